import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { pino } from 'pino';
import { createPasswords, inPasswordTurns } from '../../auth/password-turns.ts';
import { inShareOf } from '../../db/fair-share.ts';
import { type AuthService, startAuthService } from './support/service.ts';

const password = 'a long password';

describe('Requests that hash a password', () => {
  const post = (path: string) => new Request(`http://localhost/api/auth${path}`, { method: 'POST' });
  const alone = { servesOthers: () => false };
  const paths = [
    '/sign-in/email',
    '/sign-up/email/',
    '/change-password',
    '/reset-password',
    '/verify-password',
    '/delete-user',
    '/admin/create-user',
    '/admin/set-user-password',
  ];

  /** Handles these requests at once. Returns how many were under way at most. */
  async function mostAtOnce(requested: string[]): Promise<number> {
    let [now, most] = [0, 0];
    const handler = inPasswordTurns(async () => {
      most = Math.max(most, ++now);
      await delay(5);
      now--;
      return new Response();
    }, alone);
    await Promise.all(requested.map((path) => handler(post(path))));
    return most;
  }

  it('go on one at a time', async () => {
    expect(await mostAtOnce(paths)).to.equal(1);
  });

  it('are no others', async () => {
    expect(await mostAtOnce(['/get-session', '/organization/create', '/sign-out'])).to.equal(3);
  });

  /** Has four requests of one and a request of another wait for each other. Returns who began when. */
  async function inOrder(servesOthers: boolean, path = '/sign-in/email', workMs = 40): Promise<{ who: (string | null)[]; tookMs: number }> {
    const who: (string | null)[] = [];
    const startedAt = performance.now();
    let tookMs = 0;
    const handler = inPasswordTurns(
      async (request) => {
        who.push(request.headers.get('x-who'));
        tookMs = performance.now() - startedAt;
        await delay(workMs);
        return new Response();
      },
      { servesOthers: () => servesOthers },
    );
    const as = (name: string) =>
      inShareOf(name, () => handler(new Request(`http://localhost/api/auth${path}`, { headers: { 'x-who': name } })));
    await Promise.all([...Array.from({ length: 4 }, () => as('many')), as('one')]);
    return { who, tookMs };
  }

  it('take turns by user or address, and rest between them if organizations are served', async () => {
    const { who, tookMs } = await inOrder(true);
    expect(who).to.deep.equal(['many', 'many', 'one', 'many', 'many']);
    expect(tookMs).to.be.greaterThan(4 * 40 * 5.9);
  });

  it('rest three times as long after a sign-up, which writes a user', async () => {
    expect((await inOrder(true, '/sign-up/email')).tookMs).to.be.greaterThan(4 * 40 * 15.9);
  });

  it('rest for 1.2 seconds at most', async () => {
    const { tookMs } = await inOrder(true, '/sign-up/email', 200);
    expect(tookMs).to.be.within(4 * 1_390, 4 * 1_800);
  });

  it('do not rest in a process that serves nobody else', async () => {
    expect((await inOrder(false)).tookMs).to.be.lessThan(4 * 40 * 3);
  });

  it('are refused to those who would wait for too long, and begin after an error', async () => {
    let fail: (error: Error) => void = () => {};
    const handler = inPasswordTurns(() => new Promise((_resolve, reject) => (fail = reject)), { ...alone, patienceMs: 50 });
    const first = handler(post('/sign-in/email')).catch((error: Error) => error.message);
    const refused = await handler(post('/sign-in/email')).catch((error) => error);
    expect(refused).to.include({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 5 });
    fail(new Error('failed'));
    expect(await first).to.equal('failed');
    const next = handler(post('/sign-in/email')).catch((error: Error) => error.message);
    await delay(5);
    fail(new Error('failed, too'));
    expect(await next).to.equal('failed, too');
  });

  it('hold up nobody once it is hashed or verified, whatever they wait for then', async () => {
    const passwords = createPasswords(pino({ enabled: false }));
    const stored = await passwords.hash(password);
    for (const work of [() => passwords.hash(password), () => passwords.verify({ hash: stored, password })]) {
      let finish: (response: Response) => void = () => {};
      const requests = [
        async () => {
          await work();
          return await new Promise<Response>((resolve) => (finish = resolve));
        },
        async () => new Response('second'),
      ];
      const handler = inPasswordTurns(() => (requests.shift() as () => Promise<Response>)(), alone);
      const first = handler(post('/change-password'));
      expect(await (await handler(post('/sign-in/email'))).text()).to.equal('second');
      finish(new Response('first'));
      expect(await (await first).text()).to.equal('first');
    }
  });

  describe('of many who sign up at once', () => {
    let service: AuthService;
    before(async () => {
      service = await startAuthService();
    });
    after(() => service.stop());

    it('wait without a connection', async () => {
      let isOver = false;
      let most = 0;
      const watch = async () => {
        for (; !isOver; await delay(5)) {
          const { rows } = await service.database.pool.query(
            `select count(*)::int as waiting from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`,
          );
          most = Math.max(most, rows[0].waiting);
        }
      };
      const watched = watch();
      const signUp = (at: number) =>
        service.client().post('/sign-up/email', { name: 'One of many', email: `one-of-many-${at}@example.com`, password });
      const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => signUp(at)));
      isOver = true;
      await watched;
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(8).fill(200));
      // One hashes, and those before it may still store what they have.
      expect(most).to.be.within(1, 3);
    });

    it('let others sign in while one waits for a lock', async () => {
      const { email } = await service.client().signUp();
      const signIn = (given: string) => service.client().post('/sign-in/email', { email, password: given });
      const locking = await service.database.pool.connect();
      await locking.query('begin; lock table session in share mode');
      let isIn = false;
      const right = signIn(password).finally(() => (isIn = true));
      try {
        await delay(50);
        expect((await signIn('a wrong password')).status).to.equal(401);
        expect(isIn).to.equal(false);
      } finally {
        await locking.query('rollback');
        locking.release();
      }
      expect((await right).status).to.equal(200);
    });
  });
});

describe('Reads at /api/auth', () => {
  let service: AuthService;
  before(async () => {
    service = await startAuthService();
  });
  after(() => service.stop());

  it('wait for the share of the user, or of the address; changes do not', async () => {
    const client = service.client();
    const { userId } = await client.signUp();
    service.readers.splice(0);
    await client.get('/get-session');
    await service.client().get('/get-session');
    await client.post('/update-user', { name: 'Another name' });
    expect(service.readers).to.deep.equal([userId, '192.0.2.1']);
  });
});
