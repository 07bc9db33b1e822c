import { expect } from 'chai';
import type { Answer, Client } from './support/client.ts';
import { readIdentityDoc } from './support/identity-doc.ts';
import { useAuthService } from './support/use-auth-service.ts';

const tooLarge = '99999999999999999999';
const doc = readIdentityDoc();

describe('What sign-in takes', () => {
  const service = useAuthService({}, { check: true });
  let admin: Client;
  let owner: Client;
  let userId: string;
  let organizationId: string;
  before(async () => {
    admin = service.client();
    const { userId: adminId } = await admin.enter('Admin');
    await service.db.updateTable('user').set({ role: 'admin' }).where('id', '=', adminId).execute();
    owner = service.client();
    ({ userId } = await owner.enter('Owner'));
    organizationId = await owner.createOrganization();
  });

  /** Each answer is 400 with the code, which docs/identity.md has at the endpoint. */
  function expectRefused(name: string, answer: Answer, code: string, what: unknown): void {
    expect([answer.status, answer.body.code], `${name} ${JSON.stringify(what)}`).to.deep.equal([400, code]);
    expect(doc.errorsOf(name), name).to.include(`400 ${code}`);
  }

  async function refuses(client: Client, path: string, cases: [body: object, code?: string][]): Promise<void> {
    for (const [body, code = 'VALIDATION_ERROR'] of cases) expectRefused(`POST ${path}`, await client.post(path, body), code, body);
  }

  async function refusesQueries(client: Client, path: string, queries: string[]): Promise<void> {
    for (const query of queries) {
      const answer = await client.get(`${path}?organizationId=${organizationId}&${query}`);
      expectRefused(`GET ${path}`, answer, 'VALIDATION_ERROR', query);
    }
  }

  const rowOf = (id: string) => service.db.selectFrom('user').selectAll().where('id', '=', id).executeTakeFirst();

  it('of a user who changes their own: text, and an image may be removed', async () => {
    const signUp = { name: 'Ada', email: 'long@example.com', password: 'a long password' };
    await refuses(service.client(), '/sign-up/email', [
      [{ ...signUp, name: ' ' }],
      [{ ...signUp, name: 'x'.repeat(121) }, 'NAME_TOO_LONG'],
      [{ ...signUp, image: `https://example.com/${'x'.repeat(2_048)}` }, 'IMAGE_TOO_LONG'],
    ]);
    expect((await service.client().post('/sign-up/email', { ...signUp, name: '😀'.repeat(120) })).status).to.equal(200);
    const before = await rowOf(userId);
    const wrong = [['a'], {}, true, 0];
    await refuses(owner, '/update-user', [
      ...[...wrong, null, ' '].map((name): [object] => [{ name }]),
      ...wrong.map((image): [object] => [{ image }]),
      [{ name: 'x'.repeat(121) }, 'NAME_TOO_LONG'],
      [{ image: 'x'.repeat(2_049) }, 'IMAGE_TOO_LONG'],
    ]);
    expect(await rowOf(userId)).to.deep.equal(before);
    const image = 'https://example.com/a.png';
    for (const value of [image, null]) {
      expect((await owner.post('/update-user', { image: value })).status).to.equal(200);
      expect(await rowOf(userId)).to.include({ image: value, name: 'Owner' });
    }
  });

  it('of an admin who changes a user: the fields that the page names, and no column beside', async () => {
    const other = await service.client().enter();
    const before = await rowOf(other.userId);
    const data = (fields: object, code?: string): [object, string?] => [{ userId: other.userId, data: fields }, code];
    const columns = { id: 'hacked', createdAt: 'x', updatedAt: 'x', role: 'admin', banned: 'maybe', banExpires: 'x', password: 'x', no: 1 };
    await refuses(admin, '/admin/update-user', [
      ...Object.entries(columns).map(([key, value]) => data({ [key]: value }, 'FIELD_NOT_ALLOWED')),
      ...[null, ['a'], 0].map((name) => data({ name })),
      ...[null, 'true', 1].map((emailVerified) => data({ emailVerified })),
      data({ image: {} }),
      data({ email: ['a@example.com'] }),
      data({ email: 'none' }, 'INVALID_EMAIL'),
      data({ email: `${'x'.repeat(250)}@example.com` }, 'INVALID_EMAIL'),
      data({}, 'NO_DATA_TO_UPDATE'),
      [{ userId: { toString: 1 }, data: { name: 'N' } }],
    ]);
    expect(await rowOf(other.userId)).to.deep.equal(before);
    const right = { name: 'New', image: null, email: 'new@example.com', emailVerified: true };
    expect((await admin.post('/admin/update-user', { userId: other.userId, data: right })).status).to.equal(200);
    expect(await rowOf(other.userId)).to.deep.include(right);
  });

  it('of an admin who creates a user', async () => {
    const user = { name: 'M', email: 'made@example.com', password: 'a long password' };
    const fields = { id: 'hacked', banned: 'x', createdAt: 'x', role: 'admin', email: 'other@example.com', no: 1 };
    await refuses(admin, '/admin/create-user', [
      ...Object.entries(fields).map(([key, value]): [object, string] => [{ ...user, data: { [key]: value } }, 'FIELD_NOT_ALLOWED']),
      [{ ...user, data: { emailVerified: 'yes' } }],
      [{ ...user, data: { image: 1 } }],
      [{ ...user, name: 'x'.repeat(121) }, 'NAME_TOO_LONG'],
      [{ ...user, data: { image: 'x'.repeat(2_049) } }, 'IMAGE_TOO_LONG'],
    ]);
    const image = 'https://example.com/m.png';
    const { status, body } = await admin.post('/admin/create-user', { ...user, data: { image, emailVerified: true } });
    expect([status, body.user.image, body.user.emailVerified]).to.deep.equal([200, image, true]);
  });

  it('of a ban: whole seconds, for a hundred years at most', async () => {
    const other = await service.client().enter();
    const ban = (banExpiresIn: unknown) => ({ userId: other.userId, banExpiresIn });
    await refuses(
      admin,
      '/admin/ban-user',
      [0, -1, 1.5, 1e20, 100 * 366 * 86_400 + 1, '60', null].map((seconds) => [ban(seconds)]),
    );
    expect(await rowOf(other.userId)).to.include({ banned: false });
    for (const seconds of [1, 100 * 366 * 86_400]) {
      const { status, body } = await admin.post('/admin/ban-user', ban(seconds));
      expect(status).to.equal(200);
      expect(Date.parse(body.user.banExpires) - Date.now()).to.be.within((seconds - 60) * 1000, seconds * 1000);
    }
  });

  it('as the id of a user: text', async () => {
    const wrong = [{ toString: 1 }, ['x'], 5, null];
    const more = { newPassword: 'a long password', role: 'user', teamId: 'none', organizationId };
    for (const action of ['set-role', 'set-user-password', 'ban-user', 'unban-user', 'list-user-sessions', 'revoke-user-sessions'])
      await refuses(
        admin,
        `/admin/${action}`,
        wrong.map((id) => [{ ...more, userId: id }]),
      );
    for (const path of [
      '/admin/impersonate-user',
      '/admin/remove-user',
      '/organization/add-team-member',
      '/organization/remove-team-member',
    ])
      await refuses(
        path.startsWith('/admin') ? admin : owner,
        path,
        wrong.map((id) => [{ ...more, userId: id }]),
      );
    await refuses(admin, '/admin/has-permission', [[{ userId: { toString: 1 }, permissions: { user: ['ban'] } }]]);
    await refuses(owner, '/organization/remove-member', [[{ memberIdOrEmail: { toString: 1 }, organizationId }]]);
  });

  it('of an organization: a name on one line, and something to change', async () => {
    const names: [unknown, string?][] = [['   '], [''], ['a\nb'], ['a\u2028b'], ['\t'], ['x'.repeat(81), 'NAME_TOO_LONG'], [1], [null]];
    const update = (data: object, code?: string): [object, string?] => [{ organizationId, data }, code];
    await refuses(owner, '/organization/update', [
      ...names.map(([name, code]) => update({ name }, code)),
      update({ logo: 'x'.repeat(2_049) }, 'IMAGE_TOO_LONG'),
      update({ metadata: { note: 'x'.repeat(10_000) } }, 'METADATA_TOO_LONG'),
      update({}, 'NO_DATA_TO_UPDATE'),
      update({ unknown: 1 }, 'NO_DATA_TO_UPDATE'),
    ]);
    await refuses(
      owner,
      '/organization/create',
      names.map(([name, code]) => [{ name, slug: 'never-made' }, code]),
    );
    await refuses(
      owner,
      '/organization/create-team',
      names.map(([name, code]) => [{ name, organizationId }, code]),
    );
    const { body: team } = await owner.post('/organization/create-team', { name: 'T', organizationId });
    await refuses(
      owner,
      '/organization/update-team',
      names.map(([name, code]) => [{ teamId: team.id, data: { name } }, code]),
    );
    expect((await owner.post('/organization/update-team', { teamId: team.id, data: {} })).status).to.equal(200);
    for (const data of [{ logo: 'https://example.com/l.png' }, { metadata: {} }, { name: 'Ümläut & Söhne' }])
      expect((await owner.post('/organization/update', { organizationId, data })).status).to.equal(200);
  });

  const wrongPages = ['-1', '1.5', tooLarge, 'x', ''].flatMap((number) => [`limit=${number}`, `offset=${number}`]);
  const wrongFilters = [
    ...['sortBy=nope', 'sortBy=', 'filterField=nope&filterValue=1', 'filterField=role', 'filterField=role&filterValue=a&filterValue=b'],
    ...['filterField=createdAt&filterValue=x', 'filterField=createdAt&filterOperator=contains&filterValue=2026'],
    ...['filterField=role&filterOperator=in&filterValue=a', 'filterField=role&filterOperator=near&filterValue=a'],
  ];

  it('of a list of members', async () => {
    const path = '/organization/list-members';
    await refusesQueries(owner, path, [...wrongPages, ...wrongFilters, 'sortBy=user', 'limit=1&limit=2']);
    const right = ['limit=0', 'limit=1&offset=0', 'sortBy=createdAt&sortDirection=desc', 'filterField=role&filterValue=owner'];
    const filters = ['in&filterValue=owner&filterValue=admin', 'not_in&filterValue=a&filterValue=b', 'contains&filterValue=own'];
    for (const query of [...right, ...filters.map((filter) => `filterField=role&filterOperator=${filter}`)]) {
      const { status, body } = await owner.get(`${path}?organizationId=${organizationId}&${query}`);
      expect([status, body.members?.length, body.total], query).to.deep.equal([200, 1, 1]);
    }
  });

  it('of an organization with its members', async () => {
    const path = '/organization/get-full-organization';
    await refusesQueries(
      owner,
      path,
      ['-1', '1.5', tooLarge, 'x'].map((limit) => `membersLimit=${limit}`),
    );
    for (const limit of [0, 1, Number.MAX_SAFE_INTEGER]) {
      const { body } = await owner.get(`${path}?organizationId=${organizationId}&membersLimit=${limit}`);
      expect(body.members, String(limit)).to.have.length(1);
    }
  });

  it('of a list of users', async () => {
    const path = '/admin/list-users';
    const wrongFlags = [
      'banned&filterValue=maybe',
      'emailVerified&filterOperator=contains&filterValue=true',
      'createdAt&filterValue=0000-01-01T00:00:00Z',
    ];
    await refusesQueries(admin, path, [...wrongPages, ...wrongFilters, ...wrongFlags.map((flag) => `filterField=${flag}`)]);
    const { email } = await service.client().enter('Findable');
    const right = [
      ...[`searchValue=${email}`, 'searchValue=Find&searchField=name', `filterValue=${email}`, 'sortBy=banExpires&limit=1&offset=1'],
      ...['filterField=banned&filterValue=true', `filterField=email&filterOperator=in&filterValue=${email}&filterValue=x`],
      'filterField=name&filterValue=Findable&sortBy=createdAt',
    ];
    for (const query of right) {
      const { status, body } = await admin.get(`${path}?${query}`);
      expect([status, body.users?.length], query).to.deep.equal([200, 1]);
    }
    const since = await admin.get(`${path}?filterField=createdAt&filterOperator=gt&filterValue=2020-01-01T00:00:00Z`);
    expect(since.body.total).to.be.greaterThan(2);
  });
});
