// The JSON of users: what the API returns (decision 0010) and accepts, by their rows.
import { importedRows } from '../../../model/users/imported-rows.ts';
import { userRows } from '../../../model/users/rows.ts';
import { bodySchema, viewSchema } from '../../api/resource-schemas.ts';

export const userSchema = viewSchema(userRows, { description: 'A user.' });
export const newUserSchema = bodySchema(userRows, ['username', 'password']);
export const userChangesSchema = bodySchema(userRows, []);

const { password: _, ...others } = userRows;
/** A user of another system. */
export const importRowSchema = bodySchema({ ...others, ...importedRows }, ['username']);
