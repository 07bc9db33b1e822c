import { expect } from 'chai';
import type { Client } from './support/client.ts';
import { type AuthService, billingOn, startAuthService } from './support/service.ts';

const limits = { MAX_ORGANIZATIONS_PER_USER: '2', INVITATIONS_PER_DAY: '6' };
/** How many invitations one address gets in a day. */
const maxOfAddress = 5;

let service: AuthService;
let organizations = 0;

const create = (client: Client, name = 'Acme') =>
  client.post('/organization/create', { name, slug: `limits-${process.pid}-${++organizations}` });

async function newUser() {
  const client = service.client();
  return { client, ...(await client.signUp()) };
}

function expectTooMany(answer: { status: number; body: unknown }): void {
  expect([answer.status, answer.body]).to.deep.equal([
    403,
    {
      defined: true,
      code: 'YOU_HAVE_REACHED_THE_MAXIMUM_NUMBER_OF_ORGANIZATIONS',
      status: 403,
      message: 'The user owns as many organizations on the free plan as one may.',
    },
  ]);
}

describe('Organizations of one user', () => {
  before(async () => {
    service = await startAuthService({ ...billingOn, ...limits });
  });
  after(async () => {
    await service.stop();
    expect(service.errors).to.deep.equal([]);
  });

  it('are limited, also against requests at once, and a refused one leaves nothing', async () => {
    const { client, userId } = await newUser();
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(client)));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 200, 403, 403, 403, 403, 403, 403]);
    for (const answer of answers.filter(({ status }) => status === 403)) expectTooMany(answer);
    const members = await service.db.selectFrom('member').select('id').where('userId', '=', userId).execute();
    const { rows } = await service.database.pool.query('select id from organization where id not in (select "organizationId" from member)');
    expect([members.length, rows]).to.deep.equal([2, []]);
  });

  it('count only while they are on the free plan', async () => {
    const { client } = await newUser();
    const { body } = await create(client);
    await create(client);
    expectTooMany(await create(client));
    await service.db
      .insertInto('subscription')
      .values({ id: `of-${body.id}`, plan: 'pro', referenceId: body.id, status: 'active' })
      .execute();
    expect((await create(client)).status).to.equal(200);
    expectTooMany(await create(client));
  });

  it('cannot be gained as another owner either: by an invitation, or a change of role', async () => {
    const [giver, invited, joined] = [await newUser(), await newUser(), await newUser()];
    for (const { client } of [invited, joined]) for (let i = 0; i < 2; i++) await create(client);
    const organizationId: string = (await create(giver.client)).body.id;
    expectTooMany(await giver.client.bring(invited, { organizationId, role: 'owner' }));
    expect((await giver.client.bring(joined, { organizationId })).status).to.equal(200);
    const member = await service.db
      .selectFrom('member')
      .select('id')
      .where('userId', '=', joined.userId)
      .where('organizationId', '=', organizationId)
      .executeTakeFirstOrThrow();
    const promoted = await giver.client.post('/organization/update-member-role', { memberId: member.id, role: 'owner', organizationId });
    expectTooMany(promoted);
  });
});

describe('Without billing', () => {
  before(async () => {
    service = await startAuthService();
  });
  after(() => service.stop());

  it('nothing is capped: neither organizations of a user nor invitations of an address', async () => {
    const { client } = await newUser();
    for (let i = 0; i < 12; i++) {
      const { status, body } = await create(client);
      expect(status).to.equal(200);
      const invitation = { email: 'invited-often@example.com', role: 'member', organizationId: body.id };
      expect((await client.post('/organization/invite-member', invitation)).status).to.equal(200);
    }
  });
});

describe('Invitations', () => {
  let owner: Awaited<ReturnType<typeof newUser>>;
  let organizationId: string;
  before(async () => {
    service = await startAuthService(limits);
  });
  after(async () => {
    await service.stop();
    expect(service.errors).to.deep.equal([]);
  });
  beforeEach(async () => {
    owner = await newUser();
    organizationId = (await create(owner.client)).body.id;
    service.mails.splice(0);
  });

  let guests = 0;
  const newAddress = () => `guest-of-limits-${++guests}@example.com`;
  const invite = (email: string, more: object = {}) =>
    owner.client.post('/organization/invite-member', { email, role: 'member', organizationId, ...more });

  it('cannot be sent to one address again and again: not by resending, nor by canceling and inviting', async () => {
    const email = newAddress();
    const first = await invite(email);
    for (let sent = 1; sent < maxOfAddress - 1; sent++) expect((await invite(email, { resend: true })).status).to.equal(200);
    await owner.client.post('/organization/cancel-invitation', { invitationId: first.body.id });
    expect((await invite(email.toUpperCase())).status).to.equal(200);
    const refused = await invite(email, { resend: true });
    expect(refused.body).to.deep.equal({
      defined: true,
      code: 'TOO_MANY_REQUESTS',
      status: 429,
      message: 'Too many invitations: try again later.',
    });
    expect(Number(refused.headers.get('retry-after'))).to.be.within(80_000, 86_400);
    expect(service.mails).to.have.length(maxOfAddress);
  });

  it('cannot be sent to one address by several organizations, also at once', async () => {
    const email = newAddress();
    const others = await Promise.all(
      Array.from({ length: maxOfAddress + 2 }, async () => {
        const { client } = await newUser();
        return { client, organizationId: (await create(client)).body.id as string };
      }),
    );
    const answers = await Promise.all(
      others.map((other) =>
        other.client.post('/organization/invite-member', { email, role: 'member', organizationId: other.organizationId }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([...Array(maxOfAddress).fill(200), 429, 429]);
    expect(service.mails).to.have.length(maxOfAddress);
  });

  it('are limited for each organization', async () => {
    const answers = await Promise.all(Array.from({ length: 9 }, () => invite(newAddress())));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([...Array(6).fill(200), 429, 429, 429]);
    expect(service.mails).to.have.length(6);
  });

  it('count for a day', async () => {
    const email = newAddress();
    for (let i = 0; i < maxOfAddress; i++) await invite(email, { resend: true });
    expect((await invite(email, { resend: true })).status).to.equal(429);
    await service.database.pool.query(`update invitation_mail set sent_at = sent_at - interval '1 day'`);
    expect((await invite(email, { resend: true })).status).to.equal(200);
    const { rows } = await service.database.pool.query('select from invitation_mail');
    expect(rows).to.have.length(1);
  });
});
