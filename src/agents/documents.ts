// Clients whose id is the address of a metadata document (Client ID Metadata Documents; decision 0026): fetched for a person who is
// signed in, checked, and kept as a snapshot, which then is the client. What is stored under an id always wins.
import { type Clock, isAhead } from '../clock.ts';
import { AppError } from '../errors.ts';
import { AlreadyExists } from '../store/port.ts';
import { DocumentRefused, readDocument } from './document.ts';
import { documentAddress } from './document-address.ts';
import type { AgentDoors } from './doors.ts';
import type { NameProblem } from './taken-names.ts';

/** @throws Error when it may not or cannot be fetched; nothing is followed, and only public addresses are called */
export type FetchDocument = (address: string) => Promise<{
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}>;

export interface Documents {
  /** Whether a document has to be read before this id can be used; then a person must be signed in. */
  isDue(clientId: string): Promise<boolean>;
  /**
   * Reads the document and keeps what it says.
   * @param from the network address of the person
   * @throws AppError client.document_refused, request.rate_limited
   */
  admit(clientId: string, from: string): Promise<void>;
}

const FRESH_MS = 3_600_000;
/** For so long a snapshot stands in for a document that cannot be read. */
const LASTING_MS = 86_400_000;
const NEGATIVE_MS = 300_000;
const MAX_REMEMBERED = 1000;
const MAX_LENGTH = 16_384;

const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

const refused = (clientId: string, why: string, cause?: unknown): AppError =>
  new AppError('client.document_refused', {
    cause,
    message: `The metadata document at ${clientId} cannot be used. ${why}`,
  });

/** Reasons by address, so that one that fails is not fetched again at every request. */
function createFailures(clock: Clock) {
  const known = new Map<string, { readonly why: string; readonly until: number }>();
  return {
    of(address: string): string | undefined {
      const failure = known.get(address);
      return failure !== undefined && isAhead(failure.until, clock(), NEGATIVE_MS) ? failure.why : undefined;
    },
    note(address: string, why: string): void {
      known.delete(address);
      known.set(address, { why, until: clock() + NEGATIVE_MS });
      for (const oldest of known.keys()) {
        if (known.size <= MAX_REMEMBERED) break;
        known.delete(oldest);
      }
    },
  };
}

export function createDocuments(
  { clients, quarantined, settings, limits, clock, log }: AgentDoors,
  fetchDocument: FetchDocument,
  nameProblem: NameProblem,
): Documents {
  const failures = createFailures(clock);
  const underway = new Map<string, Promise<void>>();

  async function read(address: URL): Promise<void> {
    const clientId = address.href;
    const { status, contentType, text } = await fetchDocument(clientId).catch((cause: unknown) => {
      // Why is for the log alone: the answer would tell which names and addresses there are inside.
      log.info({ event: 'agent_document', client_id: clientId, err: cause }, 'document not fetched');
      throw new DocumentRefused('It could not be fetched.', { cause });
    });
    if (status !== 200) throw new DocumentRefused(`The answer has status ${status}, not 200.`);
    if (!JSON_TYPE.test(contentType)) throw new DocumentRefused('It is not application/json.');
    if (text.length > MAX_LENGTH) throw new DocumentRefused('It is longer than 16 kB.');
    const { metadata, says } = readDocument(address, text);
    const problem = await nameProblem(String(metadata.client_name));
    if (problem !== undefined) throw new DocumentRefused(problem);
    const quarantine = { by: 'document', fetchedAt: clock(), says } as const;
    const known = await clients.find(clientId);
    if (known === undefined) {
      await quarantined.makeRoom();
      // Another process read the same document meanwhile.
      await clients
        .create({ clientId, metadata, origin: 'registration', quarantine })
        .catch((error: unknown) => {
          if (!(error instanceof AlreadyExists)) throw error;
        });
    } else if (known.value.quarantine?.by === 'document') {
      await clients.update(clientId, {
        metadata,
        mode: 'replace',
        authority: 'registrant',
        document: quarantine,
      });
    }
  }

  const whyOf = (error: unknown): string | undefined => {
    if (error instanceof DocumentRefused) return error.message;
    if (error instanceof AppError && error.code === 'client.invalid_metadata')
      return Object.entries(error.fields ?? {})
        .map(([name, problem]) => `${name}: ${problem}`)
        .join(' ');
    return undefined;
  };

  /** A recent snapshot is used instead. */
  async function fallBack(clientId: string, why: string, cause?: unknown): Promise<void> {
    const { quarantine } = (await clients.find(clientId))?.value ?? {};
    if (quarantine?.fetchedAt !== undefined && clock() - quarantine.fetchedAt < LASTING_MS) return;
    throw refused(clientId, why, cause);
  }

  async function readOnce(address: URL): Promise<void> {
    try {
      await read(address);
    } catch (error) {
      const why = whyOf(error);
      if (why === undefined) throw error;
      failures.note(address.href, why);
      await fallBack(address.href, why, error);
    }
  }

  return {
    async isDue(clientId) {
      if (!settings().agents || documentAddress(clientId) === undefined) return false;
      const known = (await clients.find(clientId))?.value;
      if (known === undefined) return true;
      const { fetchedAt } = known.quarantine ?? {};
      return known.isActive && fetchedAt !== undefined && clock() - fetchedAt >= FRESH_MS;
    },

    async admit(clientId, from) {
      const address = documentAddress(clientId);
      if (address === undefined) return;
      const failure = failures.of(clientId);
      if (failure !== undefined) return fallBack(clientId, failure);
      const known = underway.get(clientId);
      if (known !== undefined) return known;
      await limits.consume('agent_documents_ip', from);
      await limits.consume('agent_documents_host', address.hostname);
      const reading = readOnce(address).finally(() => underway.delete(clientId));
      underway.set(clientId, reading);
      return reading;
    },
  };
}
