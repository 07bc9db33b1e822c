import { expect } from 'chai';
import type { Environment } from '../../../../base/config/environment.ts';
import { lateValue } from '../../../support/late-value.ts';
import { type AuthService, startAuthService } from './service.ts';

/** Gives the tests of a `describe` sign-in alone, with a database of its own. `check` refuses errors in its log. */
export function useAuthService(env: Environment = {}, { check = false } = {}): AuthService {
  const [service, setService] = lateValue<AuthService>('service');
  before('starts sign-in', async () => setService(await startAuthService(env)));
  after('stops sign-in', async () => {
    await service.stop();
    if (check) expect(service.errors).to.deep.equal([]);
  });
  return service;
}
