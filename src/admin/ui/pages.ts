// Owns the list of all pages of the Admin UI. A new part of it is one file of pages, a line here, templates in
// templates/admin, and, where it stands on its own, an entry of navigation.ts.

import { apiKeyPages } from './api-keys.ts';
import { applicationPages } from './application.ts';
import { applicationAccessPages } from './application-access.ts';
import { applicationActPages } from './application-acts.ts';
import { applicationListPages } from './applications.ts';
import { auditPages } from './audit.ts';
import { factorOfferPages } from './factor-offer.ts';
import { groupPages } from './group.ts';
import { groupListPages } from './groups.ts';
import { invitationPages } from './invitations.ts';
import { keyPages } from './keys.ts';
import { outboxPages } from './outbox.ts';
import { overviewPages } from './overview.ts';
import type { Page } from './page.ts';
import { referencePages } from './reference.ts';
import { registrationTokenPages } from './registration-tokens.ts';
import { searchPages } from './search.ts';
import { sessionPages } from './sessions.ts';
import { settingTransferPages } from './setting-transfer.ts';
import { settingPages } from './settings.ts';
import { tokenPages } from './tokens.ts';
import { tryPages } from './try.ts';
import { userPages } from './user.ts';
import { userAccessPages } from './user-access.ts';
import { userActPages } from './user-acts.ts';
import { userImportPages } from './user-import.ts';
import { userListPages } from './users.ts';
import { userBulkPages } from './users-bulk.ts';
import { userExportPages } from './users-export.ts';

/** In this order: `/users/new` before `/users/:id`. */
export const adminPages: readonly Page[] = [
  ...overviewPages,
  ...searchPages,
  ...userListPages,
  ...userExportPages,
  ...userBulkPages,
  ...userImportPages,
  ...invitationPages,
  ...userPages,
  ...userAccessPages,
  ...userActPages,
  ...applicationListPages,
  ...applicationPages,
  ...applicationAccessPages,
  ...applicationActPages,
  ...tryPages,
  ...registrationTokenPages,
  ...sessionPages,
  ...groupListPages,
  ...groupPages,
  ...auditPages,
  ...outboxPages,
  ...apiKeyPages,
  ...tokenPages,
  ...keyPages,
  ...settingTransferPages,
  ...settingPages,
  ...factorOfferPages,
  ...referencePages,
];
