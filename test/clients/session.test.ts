import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createClient } from '../../clients/typescript/index.ts';
import { useApi } from '../support/use-api.ts';
import { refusal } from './support/refusal.ts';

const password = 'a long password';

describe('The session of a client', () => {
  const { api } = useApi();

  it('is a bearer token from sign-up to sign-out, which may be kept and used again', async () => {
    const kept: (string | undefined)[] = [];
    const client = createClient({ url: `${api.url}/`, onToken: (token) => kept.push(token) });
    const email = `${randomUUID()}@example.com`;
    expect((await refusal(client.account.me())).code).to.equal('UNAUTHORIZED');
    const { user, signedIn } = await client.auth.signUp({ name: 'Ada', email, password });
    expect(signedIn).to.equal(true);
    expect((await client.account.me()).id).to.equal(user.id);
    const organization = await client.auth.createOrganization({ name: 'Ada', slug: `org-${randomUUID()}` });
    expect(await client.workspaces.list({ organizationId: organization.id })).to.deep.equal([]);

    const again = createClient({ url: api.url, token: client.auth.token });
    expect((await again.account.me()).id).to.equal(user.id);
    await again.auth.signOut();
    expect(again.auth.token).to.equal(undefined);
    expect((await refusal(client.account.me())).code).to.equal('UNAUTHORIZED');

    const before = client.auth.token;
    await client.auth.signIn({ email, password });
    expect(client.auth.token).to.not.equal(before);
    expect((await client.account.me()).id).to.equal(user.id);
    await client.auth.signOut();
    expect(kept).to.deep.equal([before, kept[1], undefined]);
  });

  it('tells what sign-in and sign-up refuse, with the code', async () => {
    const client = createClient({ url: api.url });
    const email = `${randomUUID()}@example.com`;
    const wrong = await refusal(client.auth.signIn({ email, password }));
    expect(wrong).to.include({ code: 'INVALID_EMAIL_OR_PASSWORD', status: 401 });
    expect(wrong.requestId).to.be.a('string');
    await client.auth.signUp({ name: 'Ada', email, password });
    expect((await refusal(client.auth.signUp({ name: 'Ada', email, password }))).code).to.match(/^USER_ALREADY_EXISTS/);
    expect(client.auth.token).to.be.a('string');
  });

  it('is a cookie where it is asked for, and then no token is sent', async () => {
    const sent: Headers[] = [];
    let cookie = '';
    const client = createClient({
      url: api.url,
      session: 'cookie',
      // What a browser does with cookies, as far as this test needs it.
      fetch: async (input, init) => {
        const request = new Request(input, init);
        expect(request.credentials).to.equal('include');
        if (cookie !== '') request.headers.set('cookie', cookie);
        sent.push(request.headers);
        const response = await fetch(request);
        for (const set of response.headers.getSetCookie()) if (set.includes('session_token')) cookie = set.split(';')[0] ?? '';
        return response;
      },
    });
    const { user } = await client.auth.signUp({ name: 'Ada', email: `${randomUUID()}@example.com`, password });
    expect(client.auth.token).to.equal(undefined);
    expect((await client.account.me()).id).to.equal(user.id);
    await client.auth.signOut();
    expect((await refusal(client.account.me())).code).to.equal('UNAUTHORIZED');
    expect(sent.map((headers) => headers.get('authorization'))).to.deep.equal([null, null, null, null]);
  });
});
