// The legacy profile (decision 0026): what newer standards advise against and older libraries still need, while the setting
// `legacy_profiles` is on, for applications with `profile: legacy`. Without the setting the provider is built as if this folder
// were not there. Start with configuration.ts, which is all that the library does for it.
//
// Deleting it was rehearsed (decision 0026). These lists are exact, which test/legacy-list.test.ts holds: what has a trace of it says
// so by its name or a wire name of its own. The type checker leads through the second list, but not through texts and templates.
//
// Deleted with this folder:
// - src/clients/: legacy.ts
// - src/model/: applications/legacy.ts settings/legacy.ts
// - src/admin/resources/: clients/legacy-form.ts settings/legacy.ts
// - docs/: legacy.md
// - test/: attacks/legacy-profile.test.ts attacks/request-by-reference.test.ts browser/session-management.test.ts
//   clients/legacy.test.ts conformance/response-types.test.ts flows/admin-ui-legacy.test.ts flows/front-channel-logout.test.ts
//   flows/legacy-processes.test.ts flows/legacy-response-types.test.ts flows/session-management.test.ts
//   interop/node/legacy.test.ts legacy-list.test.ts
//
// Have lines of it, most one call or one member:
// - src/clients/: application.ts approved-addresses.ts clients.ts contract.ts index.ts
//   initial-access-tokens.ts pkce.ts quarantine.ts
// - src/http/: request-guard.ts
// - src/model/: applications/metadata.ts applications/row.ts applications/rows.ts applications/settings.ts
//   applications/vocabulary.ts grant-types.ts settings/setting.ts settings/settings.ts settings/sign-in.ts
// - src/store/: client-records.ts collections.ts
// - src/oidc/: configuration.ts create-provider.ts discovery.ts foreign-layout/realms.ts index.ts logout/logout-programs.ts logout/logout.ts
//   models/client.ts models/oidc-context.ts mount.ts outbound/outbound-fetch.ts outbound/outbound-rules.ts plain/index.ts
//   plain/plain-answers.ts policies.ts requests/registration.ts routes.ts tokens/admin-bearer.ts tokens/user-bearer.ts
// - src/admin/resources/: clients/form.ts clients/page.ts initial-access-tokens/pages.ts initial-access-tokens/resource.ts
// - src/views/: content-security-policy.ts next-step.ts pages.ts safe-urls.ts views.ts
// - src/: app/create-app.ts app/http.ts config/schema.ts
// - interactions/: logout-pages.ts
// - templates/: admin/application-calls.njk admin/application.njk admin/registration-tokens.njk
//   signed-out.njk strings/admin/ar.json strings/admin/de.json strings/admin/es.json strings/admin/fr.json strings/admin/ja.json
//   strings/admin/pt.json
// - scripts/: conformance.ts conformance/configuration.ts conformance/operator.ts conformance/plans.ts
// - docs/: README.md api.md clients.md configuration.md conformance.md decisions/0005-logout.md
//   decisions/0008-pkce.md decisions/0026-foreign-clients-and-agents.md decisions/README.md threat-model.md
// - test/: attacks/credential-table.ts attacks/pkce-downgrade.test.ts attacks/response-mode-confusion.test.ts attacks/routes.ts
//   attacks/silent-to-the-device.test.ts clients/quarantine.test.ts conformance/dynamic.test.ts
//   conformance/fapi.test.ts conformance/logout-channels.test.ts flows/account-delete.test.ts
//   flows/pkce.test.ts flows/store-calls.test.ts flows/test-sign-in.test.ts interop/python/schemathesis/hooks.py model/grant-types.test.ts
//   model/places.txt rows/applications.ts rows/world.ts
// - .: README.md biome.json
export { forgetBrowserState } from './browser-state.ts';
export { checkSessionPages } from './check-session.ts';
export { legacyConfiguration, watchLegacyResponses } from './configuration.ts';
export { legacyDiscovery } from './discovery.ts';
export { followSetting } from './follow-setting.ts';
export { isOfFragment } from './fragment-tokens.ts';
export { createFramesOf, type FramesOf } from './front-channel.ts';
export { refuseRequestUri, resolveRequestUri } from './request-uri.ts';
export { refuseWithdrawnType } from './withdrawn-type.ts';
