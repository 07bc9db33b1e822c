import { createORPCClient, getEventMeta, ORPCError } from '@orpc/client';
import { RPCLink } from '@orpc/client/fetch';
import { expect } from 'chai';
import { routes } from '../../contract/index.ts';
import { webhooksOn } from '../adapters/webhooks/support.ts';
import { recorder } from '../support/recorder.ts';
import { noteTokens } from '../support/run-secrets.ts';
import { useApi } from '../support/use-api.ts';
import { everyCall, refusedByState } from './support/every-call.ts';

/** A client of which nothing is known at compile time: what it can call, the service says. */
type AnyClient = any;

describe('The client of oRPC as its authors publish it', () => {
  const { api, tenant } = useApi({ env: { CONTACT_EMAIL: 'operator@example.com', QUESTION_LIMIT_PER_MINUTE: '1000', ...webhooksOn } });
  let client: AnyClient;

  before(async () => {
    client = clientOf(tenant.owner.token);
  });

  function clientOf(token: string, headers: Record<string, string> = {}): AnyClient {
    return createORPCClient(
      new RPCLink({ url: `${api.url}/rpc`, headers: { authorization: `Bearer ${token}`, ...headers }, fetch: recorded }),
    );
  }

  it('calls every operation', async () => {
    for (const { operation, token, input } of await everyCall(api)) {
      const route = routes.find(({ metadata }) => metadata.operation === operation);
      const call = operation.split('.').reduce((node, name) => node[name], clientOf(token))(input);
      if (refusedByState.includes(operation)) {
        expect(await refusal(call), operation).to.include({ defined: true });
        continue;
      }
      const output = await call;
      if (output.secret) noteTokens(output.secret.slice('whsec_'.length));
      if (route?.metadata.stream) await output.return();
      else expect(route?.responses[200].parse(output), operation).to.deep.equal(output);
    }
  });

  it('gets errors with their code, status, message and data', async () => {
    const error = await refusal(client.workspaces.create({ organizationId: tenant.organizationId, name: 'a\u0007b', slug: 'x' }));
    expect(error).to.include({ code: 'BAD_REQUEST', status: 400, defined: true });
    expect(error.data.issues.map((issue: { path: string[] }) => issue.path)).to.deep.equal([['name'], ['slug']]);
    expect(error.data.issues[0].params).to.deep.equal({ reason: 'control_characters' });
    const anonymous = await refusal(clientOf('none').account.me());
    expect(anonymous).to.include({ code: 'UNAUTHORIZED', status: 401, defined: true, message: 'You must be signed in.' });
    expect(await refusal(client.nothing.here())).to.include({ code: 'NOT_FOUND', status: 404, defined: false });
    expect(await refusal(client.account.me('no object'))).to.include({ code: 'BAD_REQUEST', defined: true });
  });

  it('does something once for one Idempotency-Key', async () => {
    const once = clientOf(tenant.owner.token, { 'idempotency-key': 'a-key-of-this-test' });
    const input = { organizationId: tenant.organizationId, name: 'Once', slug: 'once' };
    expect(await once.workspaces.create(input)).to.deep.equal(await once.workspaces.create(input));
    expect(await refusal(once.workspaces.create({ ...input, slug: 'twice' }))).to.include({ code: 'BAD_REQUEST', defined: true });
  });

  describe('follows jobs', () => {
    const embed = (text: string) => client.jobs.create({ kind: 'text.embed', organizationId: tenant.organizationId, texts: [text] });

    it('and goes on where it stopped', async () => {
      const { organizationId } = tenant;
      const following = await client.jobs.stream({ organizationId });
      const first = await embed('one');
      let lastEventId: string | undefined;
      for await (const event of following) {
        if (event.id !== first.id || event.status !== 'succeeded') continue;
        expect(event.result.vectors).to.have.length(1);
        lastEventId = getEventMeta(event)?.id;
        break;
      }
      expect(lastEventId).to.be.a('string');
      const missed = await embed('two');
      await api.jobIn(tenant.owner.token, missed.id, ['succeeded']);
      const resumed = await client.jobs.stream({ organizationId }, { lastEventId });
      for await (const event of resumed) if (event.id === missed.id && event.status === 'succeeded') break;
    });

    it('five times at once; a sixth iterator throws the error', async () => {
      const { organizationId } = tenant;
      const member = await api.signUp();
      await api.addMember(organizationId, member, 'member');
      const theirs = clientOf(member.token);
      const iterators = [];
      for (let count = 0; count < 5; count++) iterators.push(await theirs.jobs.stream({ organizationId }));
      const job = await embed('three');
      for (const iterator of iterators) expect((await iterator.next()).value.id).to.equal(job.id);
      const sixth = await theirs.jobs.stream({ organizationId });
      expect(await refusal(sixth.next())).to.include({ code: 'TOO_MANY_REQUESTS', status: 429, defined: true });
      await Promise.all(iterators.map((iterator) => iterator.return()));
    });

    it('and is refused where it may not', async () => {
      const outsider = clientOf((await api.signUp()).token);
      expect(await refusal(outsider.jobs.stream({ organizationId: tenant.organizationId }))).to.include({
        code: 'FORBIDDEN',
        defined: true,
      });
      const madeUp = client.jobs.stream({ organizationId: tenant.organizationId }, { lastEventId: 'made-up' });
      expect(await refusal(madeUp)).to.include({ code: 'BAD_REQUEST', defined: true });
    });
  });
});

/** The error that a call ends with. */
async function refusal(call: Promise<unknown>): Promise<ORPCError<string, any>> {
  try {
    await call;
  } catch (error) {
    if (error instanceof ORPCError) return error;
    throw error;
  }
  throw new Error('the call was not refused');
}

/** fetch, with each answer held to the OpenAPI document. */
async function recorded(request: Request, init: RequestInit): Promise<Response> {
  const response = await fetch(request, init);
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  const { pathname: path } = new URL(request.url);
  const { method, headers: requestHeaders } = request;
  const { status, headers } = response;
  recorder.check({ method, path, requestHeaders, status, headers, body: isStream ? undefined : await response.clone().json() });
  return response;
}
