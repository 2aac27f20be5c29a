// The legacy profile (decisions §10): what newer standards advise against and older libraries still need, while the setting
// `legacy_profiles` is on, for applications with `profile: legacy`. Without the setting the provider is built as if this folder
// were not there. Start with configuration.ts, which is all that the library does for it.
//
// Deleting it touches, beside this folder: src/clients/legacy.ts and legacy-members.ts with their calls in clients.ts,
// src/settings/legacy.ts, the calls of this door (create-provider.ts, discovery.ts, routes.ts, index.ts, the three refusals of
// tokens from fragments, logout.ts), the use `request` in outbound/, the boxes in templates/admin/application*.njk and
// registration-tokens.njk, docs/legacy.md and the tests that are called legacy. Stored records keep two members that nothing reads.
export { forgetBrowserState } from './browser-state.ts';
export { checkSessionPages } from './check-session.ts';
export { legacyConfiguration, watchLegacyResponses } from './configuration.ts';
export { legacyDiscovery } from './discovery.ts';
export { followSetting } from './follow-setting.ts';
export { isOfFragment } from './fragment-tokens.ts';
export { createFramesOf, type FramesOf } from './front-channel.ts';
export { refuseRequestUri, resolveRequestUri } from './request-uri.ts';
