import { initClient } from '@ts-rest/core';
import { expect } from 'chai';
import { type Procedures, procedure } from '../../api/procedure.ts';
import { type Contract, contract } from '../../contract/index.ts';
import { useApi } from '../support/use-api.ts';

describe('The contract as ts-rest has it', () => {
  const { api } = useApi({ env: { WORKER_ENABLED: 'false' } });

  it('is called by the client of ts-rest, with its types', async () => {
    const { owner, organizationId } = await api.createTenant();
    const client = initClient(contract, { baseUrl: `${api.url}/api/v1`, baseHeaders: { authorization: `Bearer ${owner.token}` } });

    const listed = await client.workspaces.list({ query: { organizationId } });
    const missing = await client.jobs.get({ params: { id: 'nobody' } });

    if (listed.status !== 200 || missing.status !== 404) throw new Error(`${listed.status}, ${missing.status}`);
    const slugs: string[] = listed.body.map(({ slug }) => slug);
    const code: 'NOT_FOUND' = missing.body.code;
    expect(slugs).to.deep.equal(['main']);
    expect(code).to.equal('NOT_FOUND');
  });

  it('refuses a wrong input, a wrong result and a procedure of another route when it is compiled', () => {
    const client = initClient(contract, { baseUrl: 'http://localhost' });
    // @ts-expect-error: the parameter is `id`.
    void (() => client.jobs.get({ params: { identifier: '1' } }));
    // @ts-expect-error: `status` is 'ok'.
    const health = procedure(contract.system.health, async () => ({ status: 'well', version: '0', time: '' }));
    const authConfig = procedure(contract.system.authConfig, async () => ({ socialProviders: [], requireEmailVerification: false }));
    const flags = procedure(contract.system.flags, async () => ({}));
    const jobKinds = procedure(contract.system.jobKinds, async () => ({ jobKinds: [], contentTypes: [] }));
    const right: Procedures<Contract['system']> = { health, authConfig, flags, jobKinds };
    // @ts-expect-error: each is at the other's name.
    const swapped: Procedures<Contract['system']> = { health, authConfig: flags, flags: authConfig, jobKinds };
    // @ts-expect-error: one is missing.
    const missing: Procedures<Contract['system']> = { health, authConfig, jobKinds };
    expect([right, swapped, missing]).to.have.length(3);
  });
});
