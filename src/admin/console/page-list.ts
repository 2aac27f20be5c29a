// The list of all pages of the Admin UI. A new part needs one file of pages, a line here, templates in templates/admin,
// and, if it is a section of its own, an entry in navigation.ts.

import { exportPage } from '../pages/exports.ts';
import type { Page } from '../pages/page.ts';
import { apiKeyPages } from '../resources/api-keys/pages.ts';
import { apiActPages } from '../resources/apis/acts.ts';
import { apiConnectPages } from '../resources/apis/connect-page.ts';
import { apiListPages } from '../resources/apis/list-page.ts';
import { apiMachinePages } from '../resources/apis/machine-page.ts';
import { apiPages } from '../resources/apis/page.ts';
import { apiScopePages } from '../resources/apis/scope-pages.ts';
import { auditPages } from '../resources/audit/pages.ts';
import { brandingPages } from '../resources/branding/pages.ts';
import { applicationAccessPages } from '../resources/clients/access-page.ts';
import { applicationActPages } from '../resources/clients/acts.ts';
import { agentPages } from '../resources/clients/agents-page.ts';
import { calledAddressPages } from '../resources/clients/called-addresses-page.ts';
import { guidePages } from '../resources/clients/guide-pages.ts';
import { applicationListPages } from '../resources/clients/list-page.ts';
import { newApplicationPages } from '../resources/clients/new-pages.ts';
import { applicationPages } from '../resources/clients/page.ts';
import { secretPages } from '../resources/clients/secret-page.ts';
import { uriVerdictPages } from '../resources/clients/uri-verdicts.ts';
import { groupListPages } from '../resources/groups/list-page.ts';
import { groupPages } from '../resources/groups/page.ts';
import { registrationTokenPages } from '../resources/initial-access-tokens/pages.ts';
import { manyInvitationPages } from '../resources/invitations/many-pages.ts';
import { invitationPages } from '../resources/invitations/pages.ts';
import { keyPages } from '../resources/keys/pages.ts';
import { outboxPages } from '../resources/mails/pages.ts';
import { sessionPages } from '../resources/sessions/pages.ts';
import { settingPages } from '../resources/settings/pages.ts';
import { settingTransferPages } from '../resources/settings/transfer-pages.ts';
import { overviewPages } from '../resources/stats/overview-page.ts';
import { tokenPages } from '../resources/tokens/pages.ts';
import { userAccessPages } from '../resources/users/access.ts';
import { userActPages } from '../resources/users/acts.ts';
import { userBulkPages } from '../resources/users/bulk-pages.ts';
import { csvImportPages } from '../resources/users/csv-import-page.ts';
import { userImportPages } from '../resources/users/import-page.ts';
import { userListPages } from '../resources/users/list-page.ts';
import { userPages } from '../resources/users/page.ts';
import { users } from '../resources/users/resource.ts';
import { claimPages } from '../test-sign-in/claims-page.ts';
import { tryPages } from '../test-sign-in/pages.ts';
import { factorOfferPages } from './factor-offer.ts';
import { placesPages } from './places-page.ts';
import { referencePages } from './reference-page.ts';
import { searchPages } from './search-page.ts';

/** Order matters: `/users/new` comes before `/users/:id`. */
export const adminPages: readonly Page[] = [
  ...overviewPages,
  ...searchPages,
  ...userListPages,
  exportPage(users.list, { event: 'users.exported' }),
  ...userBulkPages,
  ...csvImportPages,
  ...userImportPages,
  ...manyInvitationPages,
  ...invitationPages,
  ...userPages,
  ...userAccessPages,
  ...userActPages,
  ...applicationListPages,
  ...newApplicationPages,
  ...uriVerdictPages,
  ...secretPages,
  ...guidePages,
  ...applicationPages,
  ...applicationAccessPages,
  ...applicationActPages,
  ...calledAddressPages,
  ...agentPages,
  ...tryPages,
  ...claimPages,
  ...apiListPages,
  ...apiPages,
  ...apiConnectPages,
  ...apiScopePages,
  ...apiMachinePages,
  ...apiActPages,
  ...registrationTokenPages,
  ...sessionPages,
  ...groupListPages,
  ...groupPages,
  ...auditPages,
  ...outboxPages,
  ...apiKeyPages,
  ...tokenPages,
  ...keyPages,
  ...brandingPages,
  ...settingTransferPages,
  ...settingPages,
  ...factorOfferPages,
  ...placesPages,
  ...referencePages,
];
