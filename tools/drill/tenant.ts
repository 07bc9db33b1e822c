import { randomUUID } from 'node:crypto';
import { callUntilAnswered } from './caller.ts';

/** A user with an organization and a workspace, and every job that the service has accepted from it. */
export class Tenant {
  readonly organizationId: string;
  readonly workspaceId: string;
  /** The jobs that were answered with 200. */
  readonly accepted = new Set<string>();
  readonly #url: string;
  readonly #token: string;

  private constructor(url: string, token: string, organizationId: string, workspaceId: string) {
    this.#url = url;
    this.#token = token;
    this.organizationId = organizationId;
    this.workspaceId = workspaceId;
  }

  static async create(url: string): Promise<Tenant> {
    const slug = `drill-${randomUUID()}`;
    const person = { name: 'Drill', email: `${slug}@example.com`, password: 'a long password' };
    const signedUp = await callUntilAnswered({ url: `${url}/api/auth/sign-up/email`, method: 'POST', body: person });
    const token = signedUp.headers.get('set-auth-token') ?? '';
    const post = { method: 'POST', token };
    const organization = await callUntilAnswered({ ...post, url: `${url}/api/auth/organization/create`, body: { name: slug, slug } });
    const body = { organizationId: organization.body.id, name: 'Drill', slug: 'drill' };
    const workspace = await callUntilAnswered({ ...post, url: `${url}/api/v1/workspaces`, body });
    return new Tenant(url, token, organization.body.id, workspace.body.id);
  }

  /** Uploads a text and completes it; answers the document's id. */
  async upload(text: string): Promise<string> {
    const { document, upload } = await this.beginUpload(text.length);
    // A PUT whose answer was lost has stored the object: the second one is refused.
    await callUntilAnswered({ url: upload.url, method: 'PUT', headers: upload.headers, body: text, accept: [412] });
    await this.#call('POST', `/documents/${document.id}/complete`);
    return document.id;
  }

  async beginUpload(size: number): Promise<{ document: { id: string }; upload: { url: string; headers: Record<string, string> } }> {
    const body = { workspaceId: this.workspaceId, name: 'drill.txt', contentType: 'text/plain', size };
    return (await this.#call('POST', '/documents', body)).body;
  }

  async deleteDocument(id: string): Promise<void> {
    await this.#call('DELETE', `/documents/${id}`, undefined, [404]);
  }

  /** Creates a job; the same request is sent until it is answered, and makes one job however often it is sent. */
  async createJob(job: { kind: string; documentId?: string }): Promise<string> {
    const scope = job.kind.startsWith('text.') ? { organizationId: this.organizationId, workspaceId: this.workspaceId } : {};
    const { body } = await this.#call('POST', '/jobs', { ...fields[job.kind], ...scope, ...job });
    this.accepted.add(body.id);
    return body.id;
  }

  #call(method: string, path: string, body?: unknown, accept: number[] = []) {
    const key = method === 'POST' && body !== undefined ? { key: randomUUID() } : {};
    return callUntilAnswered({ url: `${this.#url}/api/v1${path}`, method, token: this.#token, body, accept, ...key });
  }
}

const fields: Record<string, object> = {
  'text.summarize': { text: 'The tide turns at noon. The ferry waits for nobody. Bread is sold on the pier.', maxSentences: 1 },
  'text.embed': { texts: ['the tide', 'the ferry'] },
};
