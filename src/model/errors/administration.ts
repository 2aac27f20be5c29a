import { type ErrorRow, readAgain, wrongId } from './error-row.ts';

export const administrationErrors = {
  'group.not_found': {
    status: 404,
    message: 'Group not found.',
    cause: 'No group has this name.',
    remedy: wrongId,
  },
  'group.name_taken': {
    status: 409,
    message: 'A group with this name already exists.',
    cause: 'A group has this name.',
    remedy: 'Choose another name, or change the existing group.',
  },
  'group.in_use': {
    status: 409,
    message: 'An application or a scope of an API is restricted to this group.',
    cause: 'An application lets in only members of this group, or a scope of an API is only for them.',
    remedy:
      'Remove the group from `allowed_groups` of the application, or from the scopes of the API, that the message names.',
  },
  'group.too_many': {
    status: 409,
    message: 'The user has reached the maximum number of groups.',
    cause: 'The user has the largest number of groups.',
    remedy: 'Remove the user from another group first.',
  },
  'group.not_member': {
    status: 404,
    message: 'The user is not a member of this group.',
    cause: 'The user is not a member.',
    remedy: 'Nothing to do: the end state is reached.',
  },
  'group.changed': {
    status: 412,
    message: 'The group was changed since you read it.',
    cause: '`If-Match` names an older version of the group.',
    remedy: readAgain,
  },
  'client.not_found': {
    status: 404,
    message: 'Application not found.',
    cause: 'No application has this `client_id`.',
    remedy: wrongId,
  },
  'client.built_in': {
    status: 409,
    message: 'This application is built in. It cannot be changed or deleted.',
    cause: 'The application belongs to the pages of this server; without it no user could sign in to them.',
    remedy: 'Leave it as it is; register an application of your own.',
  },
  'client.invalid_metadata': {
    status: 400,
    message: 'The application metadata is not valid.',
    cause: 'A member of the registration is not allowed or does not fit the others.',
    remedy: 'Read `fields` (at `/oauth2/register`: `error_description`); fix the members it names.',
    oauth: 'invalid_client_metadata',
  },
  'client.document_refused': {
    status: 400,
    message: 'The metadata document of this application cannot be used.',
    cause:
      'The `client_id` is the address of a metadata document that could not be fetched or may not be used.',
    remedy:
      'The message says why; what a document must say is in `docs/agents.md`. A failure is remembered for five minutes.',
  },
  'api.not_found': {
    status: 404,
    message: 'API not found.',
    cause: 'No API has this id.',
    remedy: wrongId,
  },
  'api.identifier_taken': {
    status: 409,
    message: 'An API with this identifier already exists.',
    cause: 'An API with this identifier exists, or is being deleted at this moment.',
    remedy: 'Choose another identifier, or change the API that has it.',
  },
  'api.changed': {
    status: 412,
    message: 'The API was changed since you read it.',
    cause: '`If-Match` names an older version of the API.',
    remedy: readAgain,
  },
  'session.not_found': {
    status: 404,
    message: 'Session not found.',
    cause: 'No session has this id, or it ended and was removed.',
    remedy: wrongId,
  },
  'token.not_found': {
    status: 404,
    message: 'Token not found.',
    cause: 'The token expired, was revoked, or never existed.',
    remedy: wrongId,
  },
  'grant.not_found': {
    status: 404,
    message: 'Grant not found.',
    cause: 'The grant was revoked or has expired.',
    remedy: wrongId,
  },
  'api_key.not_found': {
    status: 404,
    message: 'API key not found.',
    cause: 'No API key has this id.',
    remedy: wrongId,
  },
  'setting.unknown': {
    status: 400,
    message: 'Unknown setting.',
    cause: 'No setting has this name.',
    remedy: 'Take the names from docs/configuration.md or `GET /admin/api/settings`.',
  },
  'branding.changed': {
    status: 412,
    message: 'The look was changed since you read it.',
    cause: '`If-Match` names an older version of the look.',
    remedy: readAgain,
  },
  'branding.version_not_found': {
    status: 404,
    message: 'There is no such version.',
    cause: 'No version of this look has the number; the last 30 are kept.',
    remedy: 'List the versions.',
  },
  'branding.too_many': {
    status: 409,
    message: 'Too many applications have a look of their own.',
    cause: '500 looks are stored.',
    remedy: 'Delete applications that are not used any more, or let them have the look of the installation.',
  },
  'branding.of_stranger': {
    status: 409,
    message: 'Only an application that an administrator created or vouched for can have a look of its own.',
    cause: 'An agent, the Admin UI itself, or an application that registered itself and is not first-party.',
    remedy: 'Make it first-party (`skip_consent`), if you vouch for it.',
  },
  'setting.changed': {
    status: 412,
    message: 'The settings were changed since you read them.',
    cause: '`If-Match` names an older version of the settings.',
    remedy: readAgain,
  },
} as const satisfies Readonly<Record<string, ErrorRow>>;
