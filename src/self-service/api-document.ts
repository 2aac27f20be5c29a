// The OpenAPI document of /account/api, by the rows that api.ts declares its routes by (src/model/account-api.ts).
import type { RouteMethod } from '../http/index.ts';
import { type Operation, type OperationName, operationNames, operationOf } from '../model/account-api.ts';

const METHODS: readonly RouteMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Whether it is refused with auth.stale where the sign-in is too old or too weak (decision 0011). */
export const isSensitive = (name: OperationName): boolean => operationOf(name).act === 'sensitive';

/** @returns the method, and the path below /account/api as the router writes it */
export function placeOf(name: OperationName): { readonly method: RouteMethod; readonly path: string } {
  const [verb, path = ''] = name.split(' ');
  const method = METHODS.find((one) => one === verb);
  if (method === undefined) throw new TypeError(`${name} has no method`);
  return { method, path };
}

const json = (schema: object): object => ({ 'application/json': { schema } });

function bodyOf({ body = [], isChange }: Operation): object {
  const type = isChange === true ? ['string', 'null'] : 'string';
  const required = body.filter((member) => isChange !== true && !member.endsWith('?'));
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(body.map((member) => [member.replace('?', ''), { type }])),
    ...(required.length > 0 && { required }),
  };
}

const queryOf = (query: NonNullable<Operation['query']>): object[] =>
  Object.entries(query).map(([name, { from, description }]) => ({
    name,
    in: 'query',
    description,
    schema: { type: 'integer', minimum: from, maximum: 99_999 },
  }));

const objectOf = ({ name, description }: NonNullable<Operation['object']>): object => ({
  type: 'object',
  additionalProperties: false,
  properties: { [name]: { type: 'object', description } },
  required: [name],
});

const listSchema = {
  type: 'object',
  required: ['items', 'total'],
  properties: { items: { type: 'array', items: { type: 'object' } }, total: { type: 'integer' } },
};

function answersOf({ answer }: Operation, needsFresh: boolean): object {
  const data = answer === '[]' ? listSchema : { type: 'object' };
  const success =
    answer === undefined
      ? { 204: { description: 'Done.' } }
      : {
          200: {
            description: 'Under `data`.',
            content: json({ type: 'object', required: ['data'], properties: { data } }),
          },
        };
  const stale = { 403: { description: 'auth.stale: sign in again first.', content: json(errorRef) } };
  return {
    ...success,
    ...(needsFresh && stale),
    default: { description: 'An error; docs/errors.md lists the reasons.', content: json(errorRef) },
  };
}

const errorRef = { $ref: '#/components/schemas/Error' };

function describe(name: OperationName): object {
  const operation = operationOf(name);
  const { method, path } = placeOf(name);
  const hasId = path.endsWith('/:id');
  return {
    operationId: `${method.toLowerCase()}${path.replace('/:id', '/one').replace(/[/-]([a-z])/g, (_, letter: string) => letter.toUpperCase())}`,
    summary: operation.summary,
    ...(isSensitive(name) && { description: 'Needs a fresh sign-in.' }),
    security: [{ oauth: [method === 'GET' ? 'account:read' : 'account'] }],
    ...(hasId && {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
    }),
    ...(operation.query !== undefined && { parameters: queryOf(operation.query) }),
    ...(operation.file !== undefined && {
      requestBody: {
        required: true,
        content: Object.fromEntries(operation.file.map((type) => [type, {}])),
      },
    }),
    ...(operation.object !== undefined && {
      requestBody: { required: true, content: json(objectOf(operation.object)) },
    }),
    ...(operation.body !== undefined && {
      requestBody: { required: true, content: json(bodyOf(operation)) },
    }),
    responses: answersOf(operation, isSensitive(name)),
  };
}

/** @param publicUrl of the API */
export function apiDocument(publicUrl: string, issuer: string, version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const name of operationNames) {
    const { method, path } = placeOf(name);
    const shown = path.replace(':id', '{id}');
    paths[shown] = { ...paths[shown], [method.toLowerCase()]: describe(name) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Account API',
      version,
      description: 'What people read and change of their own account, for first-party applications.',
    },
    servers: [{ url: publicUrl }],
    paths,
    components: {
      securitySchemes: {
        oauth: {
          type: 'openIdConnect',
          openIdConnectUrl: `${issuer}/.well-known/openid-configuration`,
          description:
            'An access token of a first-party application with the scope `account`, or `account:read` to read. Its sign-in is fresh ' +
            'for five minutes, where the user authenticated in that very authorization (`prompt=login`).',
        },
      },
      schemas: {
        Error: {
          type: 'object',
          required: ['error'],
          properties: {
            error: {
              type: 'object',
              properties: {
                reason: { type: 'string' },
                message: { type: 'string' },
                fields: { type: 'object', additionalProperties: { type: 'string' } },
              },
            },
          },
        },
      },
    },
  };
}
