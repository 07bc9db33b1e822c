import { initClient } from '@ts-rest/core';
import { expect } from 'chai';
import { type Procedures, procedure } from '../../api/procedure.ts';
import { type Contract, contract } from '../../contract/index.ts';

describe('The contract as ts-rest has it', () => {
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
