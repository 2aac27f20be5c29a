// The legacy profile (decisions §10): what newer standards advise against and older libraries still need, while the setting
// `legacy_profiles` is on, for applications with `profile: legacy`. Without the setting the provider is built as if this folder
// were not there. Start with configuration.ts, which is all that the library does for it.
//
// Deleting it touches, beside this folder, what `grep -rl legacy` and its importers name, and the type checker then finds the rest:
// - src/clients/: legacy.ts, legacy-members.ts, their calls in clients.ts, the setting `profile` in client-settings.ts
// - src/settings/legacy.ts; the index `profile` of src/store/collections.ts (stored records keep two members that nothing reads)
// - src/oidc/: the importers of this door; `ready` of mount.ts, with which the provider follows the setting; the use `request` of
//   outbound/; two checks of models/oidc-context.ts
// - src/admin/: legacy-form.ts, settings/legacy.ts; templates/admin/application-legacy.njk; `frames` of src/views/
// - docs/legacy.md, and the tests called legacy, front-channel, session-management and request-by-reference
export { forgetBrowserState } from './browser-state.ts';
export { checkSessionPages } from './check-session.ts';
export { legacyConfiguration, watchLegacyResponses } from './configuration.ts';
export { legacyDiscovery } from './discovery.ts';
export { followSetting } from './follow-setting.ts';
export { isOfFragment } from './fragment-tokens.ts';
export { createFramesOf, type FramesOf } from './front-channel.ts';
export { refuseRequestUri, resolveRequestUri } from './request-uri.ts';
