import { request } from 'node:http';
import { recorder } from '../../../support/recorder.ts';

export interface Answer {
  status: number;
  headers: Headers;
  /** Whatever better-auth answers: tests look into it as they expect it. */
  body: any;
}

export interface SignedUp {
  userId: string;
  email: string;
}

let users = 0;

/** A user at the command line: keeps its cookies, sends no `Origin` unless told to, and nothing that only browsers send. */
export class Client {
  readonly url: string;
  readonly cookies = new Map<string, string>();
  /** The value of the last `set-auth-token`. */
  token: string | undefined;
  /** Sent with every request, if it is set. */
  authorization: string | undefined;
  readonly #makeUser: (name: string) => Promise<SignedUp & { token: string }>;

  constructor(url: string, makeUser: (name: string) => Promise<SignedUp & { token: string }>) {
    this.url = url;
    this.#makeUser = makeUser;
  }

  post(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('POST', path, JSON.stringify(body), { 'content-type': 'application/json', ...headers });
  }

  /** A POST without a body. */
  postNothing(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('POST', path, undefined, headers);
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('GET', path, undefined, headers);
  }

  cookieHeader(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Signs up somebody new, whose session the client keeps. */
  async signUp(name = 'Somebody'): Promise<SignedUp> {
    const email = `user-${process.pid}-${++users}@example.com`;
    const answer = await this.post('/sign-up/email', { name, email, password: 'a long password' });
    if (answer.status !== 200) throw new Error(`Sign-up answered ${answer.status} ${JSON.stringify(answer.body)}`);
    return { userId: answer.body.user.id, email };
  }

  /** As {@link signUp}, without a request and its hash: for tests whose subject is something else. */
  async enter(name = 'Somebody'): Promise<SignedUp> {
    const { token, ...user } = await this.#makeUser(name);
    this.token = token;
    this.cookies.set('better-auth.session_token', encodeURIComponent(token));
    return user;
  }

  async createOrganization(name = 'Acme'): Promise<string> {
    const answer = await this.post('/organization/create', { name, slug: `acme-${process.pid}-${++users}` });
    if (answer.status !== 200) throw new Error(`Creating an organization answered ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body.id;
  }

  /** Invites `to` and lets it accept; returns the acceptance. */
  async bring(to: { client: Client; email: string }, invitation: { organizationId: string; role?: string }): Promise<Answer> {
    const invited = await this.post('/organization/invite-member', { email: to.email, role: 'member', ...invitation });
    if (invited.status !== 200) throw new Error(`Inviting answered ${invited.status} ${JSON.stringify(invited.body)}`);
    return await to.client.post('/organization/accept-invitation', { invitationId: invited.body.id });
  }

  private send(method: string, path: string, body: string | undefined, headers: Record<string, string>): Promise<Answer> {
    const { authorization } = this;
    const cookie = this.cookieHeader();
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    return new Promise((resolve, reject) => {
      const sent = request(
        `${this.url}/api/auth${path}`,
        { method, headers: { ...(cookie && { cookie }), ...(authorization && { authorization }), ...length, ...headers } },
        (res) => {
          const chunks: Buffer[] = [];
          res.on('data', (chunk: Buffer) => chunks.push(chunk));
          res.on('error', reject);
          res.on('end', () => {
            const answered = new Headers();
            for (const [name, value] of Object.entries(res.headersDistinct)) for (const each of value ?? []) answered.append(name, each);
            this.keep(answered);
            const text = Buffer.concat(chunks).toString();
            const answer = { status: res.statusCode ?? 0, headers: answered, body: parsed(text) };
            try {
              recorder.checkAuth({ method, path: `/api/auth${path}`, ...answer });
            } catch (error) {
              reject(error as Error);
            }
            resolve(answer);
          });
        },
      );
      sent.on('error', reject);
      // Before a text Node writes the headers as UTF-8, which no client does.
      sent.end(body && Buffer.from(body));
    });
  }

  private keep(headers: Headers): void {
    this.token = headers.get('set-auth-token') ?? this.token;
    for (const cookie of headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/max-age=0/i.test(cookie)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
