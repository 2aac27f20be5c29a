// The JSON of APIs in the admin API (decision 0026), by their rows.
import type { TObject, TSchema } from 'typebox';
import { apiRows, newApiRows } from '../../../model/apis/rows.ts';
import { bodySchema, viewSchema } from '../../api/resource-schemas.ts';
import { object, optional, string } from '../../api/schema-parts.ts';

export const newApiSchema = bodySchema(newApiRows(), ['identifier', 'name']);
/** `scopes` is required, so that none ends because it was forgotten. */
export const replacedApiSchema = bodySchema(apiRows, ['name', 'scopes']);
export const changedApiSchema = bodySchema(apiRows, []);
export const apiSchema = viewSchema(apiRows, { description: 'An API that access tokens are for.' });

const unread = (maxLength: number, about: { readonly description: string }) =>
  optional(string({ maxLength, ...about }));

/** As the list shows it; what an import cannot set is not read. */
export const importedApiSchema: TObject<Record<string, TSchema>> = object({
  ...bodySchema(newApiRows(), ['identifier', 'name', 'scopes']).properties,
  id: unread(128, { description: 'Not read: an API is found by its identifier.' }),
  introspection_client_id: unread(128, { description: 'Not read: an API keeps its own.' }),
  created_at: unread(40, { description: 'Not read.' }),
  updated_at: unread(40, { description: 'Not read.' }),
});

export const apiWithSecretSchema = object(
  {
    ...apiSchema.properties,
    introspection_client_secret: string({
      description: 'The new secret; only this response contains it.',
      examples: ['kX3n…'],
    }),
  },
  'An API, with the secret that only this response contains.',
);
