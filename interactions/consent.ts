// The consent page (OIDC Core §3.1.2.4). Consent is remembered across sessions.
import type Koa from 'koa';
import { AppError, invalid } from '../src/errors.ts';
import { readForm } from '../src/http/index.ts';
import {
  apiToConsent,
  type BoundInteraction,
  claimsToConsent,
  clientRecord,
  missingScopes,
  type SessionGrant,
  scopesToConsent,
  statementOf,
  strangerOf,
  wordsOfEntries,
} from '../src/oidc/sign-in.ts';
import type { ConsentScope } from '../src/views/index.ts';
import type { AtHand } from './at-hand.ts';
import { pageOptions, stringParameter } from './page-options.ts';
import { personOf } from './person.ts';

export interface ConsentPage {
  show(ctx: Koa.Context, interaction: BoundInteraction): Promise<void>;
  /** GET: the page again. */
  again(ctx: Koa.Context): Promise<void>;
  submit(ctx: Koa.Context): Promise<void>;
}

/** Whether the page asks only whether the person goes on to where the application is. */
const isConfirming = ({ prompt }: BoundInteraction): boolean => prompt.name === 'confirm';

export const isConsentPage = (interaction: BoundInteraction): boolean =>
  interaction.prompt.name === 'consent' || isConfirming(interaction);

const ACTING_SCOPES = new Set(['offline_access', 'account', 'account:read', 'admin', 'admin:read']);

/** Where the user goes on: of a custom scheme the scheme alone, since its host is whatever the application likes to call itself. */
function destinationOf(redirectUri: string): string | undefined {
  const url = URL.parse(redirectUri);
  return url?.protocol === 'https:' || url?.protocol === 'http:' ? url.host : url?.protocol;
}

export function createConsentPage(hand: AtHand): ConsentPage {
  const { mount, views, browser, current, accounts, apis, consents } = hand;

  async function partiesOf(interaction: BoundInteraction) {
    const [client, account] = await Promise.all([
      mount.provider.Client.find(stringParameter(interaction, 'client_id') ?? ''),
      interaction.session && accounts.find(interaction.session.accountId),
    ]);
    if (client === undefined || !account || !isConsentPage(interaction)) {
      throw new AppError('signin.expired');
    }
    return { client, account };
  }

  /** The page belongs to one session: a later user of this browser must not answer it (R060). */
  async function checkSession(ctx: Koa.Context, interaction: BoundInteraction): Promise<void> {
    const session = await browser.current(ctx);
    if (session === undefined || session.uid !== interaction.session?.uid)
      throw new AppError('signin.expired');
  }

  /** The page showed what the application said of itself then; by now it may say something else. */
  async function checkStatement(
    interaction: BoundInteraction,
    accountId: string,
    statement: string,
  ): Promise<void> {
    const { statement: shown = await knownStatement(interaction, accountId) } = interaction.prompt.details;
    if (shown !== statement) throw new AppError('signin.expired');
  }

  const knownStatement = async (interaction: BoundInteraction, accountId: string) =>
    (await consents.find(accountId, stringParameter(interaction, 'client_id') ?? ''))?.statement;

  /** What the page asks for at an API, in the API's words; it starts anew when something of that is gone. */
  async function apiOf(interaction: BoundInteraction) {
    const asked = apiToConsent(interaction.prompt.details);
    if (asked === undefined) return undefined;
    const api = await apis.find(asked.apiId);
    const words = api && wordsOfEntries(api, asked.entries);
    if (words === undefined) throw new AppError('signin.expired');
    return { id: asked.apiId, entries: asked.entries, words };
  }

  async function allow(ctx: Koa.Context, interaction: BoundInteraction): Promise<void> {
    const { client, account } = await partiesOf(interaction);
    if (isConfirming(interaction)) return current.finishStep(ctx, interaction, { confirm: {} });
    const { Grant } = mount.provider;
    const known = interaction.grantId === undefined ? undefined : await Grant.find(interaction.grantId);
    const grant: SessionGrant = known ?? new Grant({ accountId: account.id, clientId: client.clientId });
    if (interaction.session !== undefined) grant.sessionUid = interaction.session.uid;
    const statement = statementOf(clientRecord(client));
    if (statement !== undefined) {
      await checkStatement(interaction, account.id, statement);
      grant.statement = statement;
    }

    const agreed = scopesToConsent(interaction, client, account);
    const refused = missingScopes(interaction).filter((scope) => !agreed.includes(scope));
    const claims = claimsToConsent(interaction, agreed);
    if (agreed.length > 0) grant.addOIDCScope(agreed.join(' '));
    if (refused.length > 0) grant.rejectOIDCScope(refused.join(' '));
    if (claims.length > 0) grant.addOIDCClaims(claims);
    const api = await apiOf(interaction);
    if (api !== undefined) grant.addResourceScope(api.id, api.entries.join(' '));
    const [grantId] = await Promise.all([
      grant.save(),
      consents.add(account.id, client.clientId, agreed, claims, { statement, api }),
    ]);
    await current.finishStep(ctx, interaction, { consent: { grantId } });
  }

  async function show(ctx: Koa.Context, interaction: BoundInteraction): Promise<void> {
    const { client, account } = await partiesOf(interaction);
    const asked = isConfirming(interaction) ? [] : scopesToConsent(interaction, client, account);
    const scopes = asked.map((name): ConsentScope => {
      return { name, group: ACTING_SCOPES.has(name) ? 'act' : 'know' };
    });
    const redirectUri = stringParameter(interaction, 'redirect_uri');
    views.send(
      ctx,
      'consent',
      {
        ...current.formFields(ctx, interaction),
        client: {
          name: client.clientName ?? client.clientId,
          host: redirectUri === undefined ? undefined : destinationOf(redirectUri),
          isConfirming: isConfirming(interaction),
          policyUri: client.policyUri,
          tosUri: client.tosUri,
          stranger: strangerOf(client, { redirectUri: redirectUri ?? '', scopes: asked }, hand.settings()),
          isFirstTime: (await consents.find(account.id, client.clientId)) === undefined,
        },
        account: { ...personOf(account), email: account.email },
        scopes,
        api: (await apiOf(interaction))?.words,
      },
      pageOptions(interaction),
    );
  }

  return {
    show,

    async again(ctx) {
      const interaction = await current.ofAddress(ctx);
      await checkSession(ctx, interaction);
      await show(ctx, interaction);
    },

    async submit(ctx) {
      const form = await readForm(ctx);
      const interaction = await current.ofForm(ctx, form);
      await checkSession(ctx, interaction);
      switch (form.get('action')) {
        case 'allow':
          return allow(ctx, interaction);
        case 'deny': {
          const { client, account } = await partiesOf(interaction);
          if (!isConfirming(interaction)) await consents.refuse(account.id, client.clientId);
          const description = 'The user denied the request.';
          return current.finishStep(ctx, interaction, {
            error: 'access_denied',
            error_description: description,
          });
        }
        default:
          // An empty form is not an answer; one of the two buttons must be pressed.
          throw invalid({ action: 'must be "allow" or "deny"' });
      }
    },
  };
}
