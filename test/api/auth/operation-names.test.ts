import { expect } from 'chai';
import { authOperationOf } from '../../../api/auth/operation-names.ts';
import { listAuthEndpoints } from '../../support/auth-endpoints.ts';

describe('What metrics and log lines call a request below /api/auth', () => {
  it('is a name for every endpoint that is served, without what stands for an id or a token', () => {
    const served = new Set(listAuthEndpoints().map(({ name }) => name.split(' ')[1] ?? ''));
    const nameless = [...served].filter((path) => authOperationOf(`/api/auth${path}`) === 'auth');
    expect(nameless).to.deep.equal([]);
    const names = new Set([...served].map((path) => authOperationOf(`/api/auth${path.replaceAll(/:\w+/g, 'a-secret')}`)));
    expect([...names].join())
      .not.to.include('secret')
      .and.not.to.include(':');
    // The link of a mail and the change that it leads to have one name.
    expect(names.size).to.equal(served.size - 1);
  });

  it('is that of no endpoint for any other path', () => {
    for (const [path, name] of [
      ['/api/auth/reset-password/a-secret', 'auth.reset-password'],
      ['/api/auth/callback/provider_a', 'auth.callback'],
      ['/api/auth/reset-password/a-secret/more', 'auth'],
      ['/api/auth/a-secret', 'auth'],
      ['/api/authentication', undefined],
    ] as const)
      expect(authOperationOf(path), path).to.equal(name);
  });
});
