import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** A user with an organization and a workspace, and every job that the service has accepted from it. */
export class Tenant {
  readonly organizationId: string;
  readonly workspaceId: string;
  /** The jobs whose creation was confirmed with 200. */
  readonly accepted: Set<string>;
  readonly #url: string;
  readonly #token: string;
  readonly #patienceMs: number;

  private constructor(url: string, token: string, scope: Scope) {
    this.#url = url;
    this.#token = token;
    this.#patienceMs = scope.patienceMs;
    this.organizationId = scope.organizationId;
    this.workspaceId = scope.workspaceId;
    this.accepted = scope.accepted;
  }

  /** `patienceMs` is how long it sends a request again and again until there is a response. */
  static async create(url: string, { patienceMs = limitMs } = {}): Promise<Tenant> {
    const slug = `drill-${randomUUID()}`;
    const person = { name: 'Drill', email: `${slug}@example.com`, password: 'a long password' };
    const signedUp = await callUntilResponse({ url: `${url}/api/auth/sign-up/email`, method: 'POST', body: person });
    const token = signedUp.headers.get('set-auth-token') ?? '';
    const post = { method: 'POST', token };
    const organization = await callUntilResponse({ ...post, url: `${url}/api/auth/organization/create`, body: { name: slug, slug } });
    const body = { organizationId: organization.body.id, name: 'Drill', slug: 'drill' };
    const workspace = await callUntilResponse({ ...post, url: `${url}/api/v1/workspaces`, body });
    return new Tenant(url, token, {
      organizationId: organization.body.id,
      workspaceId: workspace.body.id,
      accepted: new Set(),
      patienceMs,
    });
  }

  /** The same tenant as it uses another API. */
  at(url: string): Tenant {
    return new Tenant(url, this.#token, { ...this, patienceMs: this.#patienceMs });
  }

  /** Uploads a text and completes it, as a document or as the new content of one. Returns the upload's id. */
  async upload(content: string, fields: { replaces?: string } = {}): Promise<string> {
    const { document, upload } = await this.beginUpload(content.length, fields);
    // A PUT whose response was lost has stored the object, so the second one is refused.
    await callUntilResponse({
      url: upload.url,
      method: 'PUT',
      headers: upload.headers,
      body: content,
      accept: [412],
      limitMs: this.#patienceMs,
    });
    await this.call('POST', `/documents/${document.id}/complete`);
    return document.id;
  }

  async beginUpload(
    size: number,
    fields: { replaces?: string } = {},
  ): Promise<{ document: { id: string }; upload: { url: string; headers: Record<string, string> } }> {
    const body = { workspaceId: this.workspaceId, name: 'drill.txt', contentType: 'text/plain', size, ...fields };
    return (await this.call('POST', '/documents', body)).body;
  }

  async deleteDocument(id: string): Promise<void> {
    await this.call('DELETE', `/documents/${id}`, undefined, { accept: [404] });
  }

  /** Sends the request once, whatever the response is. */
  async tryToListJobs(): Promise<void> {
    await send({ url: `${this.#url}/api/v1/organizations/${this.organizationId}/jobs?limit=1`, method: 'GET', token: this.#token });
  }

  /** Creates a job. The request is sent until there is a response; its idempotency key makes it one job. Returns the job's id. */
  async createJob(job: { kind: string; documentId?: string; text?: string }, key: string = randomUUID()): Promise<string> {
    const scope = job.kind.startsWith('text.') ? { organizationId: this.organizationId, workspaceId: this.workspaceId } : {};
    const { body } = await this.call('POST', '/jobs', { ...fields[job.kind], ...scope, ...job }, { key });
    this.accepted.add(body.id);
    return body.id;
  }

  /** Sends a request to the API until there is a response. */
  call(method: string, path: string, body?: unknown, options: Pick<Call, 'accept' | 'key' | 'headers'> = {}) {
    const key = method === 'POST' && body !== undefined ? { key: randomUUID() } : {};
    return callUntilResponse({
      url: `${this.#url}/api/v1${path}`,
      method,
      token: this.#token,
      body,
      ...key,
      ...options,
      limitMs: this.#patienceMs,
    });
  }
}

interface Scope extends Pick<Tenant, 'organizationId' | 'workspaceId' | 'accepted'> {
  patienceMs: number;
}

const fields: Record<string, object> = {
  'text.summarize': { text: 'The tide turns at noon. The ferry waits for nobody. Bread is sold on the pier.', maxSentences: 1 },
  'text.embed': { texts: ['the tide', 'the ferry'] },
};

const retryMs = 200;
const limitMs = 180_000;
const callMs = 15_000;

interface Call {
  url: string;
  method: string;
  token?: string;
  /** The idempotency key, which makes it safe to send the request again if its response was lost. */
  key?: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Accepted statuses other than 200. */
  accept?: number[];
  /** How long it is sent again; three minutes by default. */
  limitMs?: number;
}

/**
 * Sends a request until there is a response, as a careful client does: after a broken connection or a 5xx it is sent again. Throws for
 * any other status that the caller does not accept.
 */
export async function callUntilResponse(call: Call): Promise<{ status: number; headers: Headers; body: any }> {
  const patienceMs = call.limitMs ?? limitMs;
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const response = await send(call);
    if (response && (response.status === 200 || call.accept?.includes(response.status))) return response;
    if (response && response.status < 500)
      throw new Error(`${call.method} ${call.url}: ${response.status} ${JSON.stringify(response.body)}`);
    if (Date.now() > deadline) throw new Error(`${call.method} ${call.url}: no response for ${patienceMs / 1_000} s`);
    await delay(retryMs);
  }
}

/** Sends a request once. Returns undefined if there is no response. */
export async function send({ url, method, token, key, body, headers = {} }: Omit<Call, 'accept' | 'limitMs'>) {
  const all = new Headers(headers);
  if (token) all.set('authorization', `Bearer ${token}`);
  if (key) all.set('idempotency-key', key);
  if (body !== undefined && !all.has('content-type')) all.set('content-type', 'application/json');
  const payload = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  try {
    const response = await fetch(url, { method, headers: all, body: payload ?? null, signal: AbortSignal.timeout(callMs) });
    const text = await response.text();
    const json = response.headers.get('content-type')?.startsWith('application/json') && text !== '';
    return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text };
  } catch {
    // The service is down, or was killed before it responded.
    return undefined;
  }
}
