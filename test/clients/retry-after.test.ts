import { expect } from 'chai';
import { sql } from 'kysely';
import { createClient } from '../../clients/typescript/index.ts';
import { nightly } from '../support/nightly.ts';
import { useApi } from '../support/use-api.ts';
import { type FaultyProxy, startFaultyProxy } from './support/faulty-proxy.ts';
import { refusal } from './support/refusal.ts';

const requestsPerMinute = 4;

describe('A client that asks too often', () => {
  const { api } = useApi({ process: true, env: { RATE_LIMIT_PER_MINUTE: String(requestsPerMinute), LIMITER_STORE: 'postgres' } });
  let proxy: FaultyProxy;

  before(async () => {
    proxy = await startFaultyProxy(api.url);
  });
  after(async () => {
    await proxy.close();
  });

  nightly('waits as long as the service says, and then gets its answer, also for what is done only once', async () => {
    const client = createClient({ url: proxy.url });
    const impatient = createClient({ url: proxy.url, retries: { maxRetryAfterMs: 10 } });
    for (let count = 0; count < requestsPerMinute; count++) await client.system.health();
    const refused = await refusal(impatient.system.health());
    expect(refused).to.include({ code: 'TOO_MANY_REQUESTS', status: 429, defined: true });
    expect(refused.retryAfterMs).to.be.within(1_000, 60_000);

    // The minute of the limit is nearly over, and the process has not noted when it was to end.
    await api.stack.restart('api');
    const endsAt = Date.now() + 5_000;
    await sql`update rate_limit set expire = ${endsAt}`.execute(api.database.db);
    proxy.passed.length = 0;
    const message = 'How do I raise my quota?';
    expect((await refusal(client.contact.send({ email: 'ada@example.com', message }))).code).to.equal('PRECONDITION_FAILED');
    expect(Date.now()).to.be.at.least(endsAt);
    expect(proxy.passed).to.have.length(2);
  });
});
