// Owns the list of all pages of the Admin UI. A new part of it is one file of pages, a line here, templates in
// templates/admin, and, where it stands on its own, an entry of navigation.ts.
import { applicationPages } from './application.ts';
import { applicationActPages } from './application-acts.ts';
import { applicationListPages } from './applications.ts';
import { auditPages } from './audit.ts';
import { outboxPages } from './outbox.ts';
import { overviewPages } from './overview.ts';
import type { Page } from './page.ts';
import { referencePages } from './reference.ts';
import { registrationTokenPages } from './registration-tokens.ts';
import { searchPages } from './search.ts';
import { sessionPages } from './sessions.ts';
import { settingPages } from './settings.ts';
import { userPages } from './user.ts';
import { userActPages } from './user-acts.ts';
import { userListPages } from './users.ts';

/** In this order: `/users/new` before `/users/:id`. */
export const adminPages: readonly Page[] = [
  ...overviewPages,
  ...searchPages,
  ...userListPages,
  ...userPages,
  ...userActPages,
  ...applicationListPages,
  ...applicationPages,
  ...applicationActPages,
  ...registrationTokenPages,
  ...sessionPages,
  ...auditPages,
  ...outboxPages,
  ...settingPages,
  ...referencePages,
];
