import type { Environment } from '../../../base/config/environment.ts';
import { lateValue } from '../../support/late-value.ts';
import { type AiService, startAiService } from './ai-service.ts';
import { type RemoteModel, startRemoteModel } from './remote-model.ts';

/** A service for the tests of a `describe`. */
export function useAiService(env: Environment = {}): AiService {
  const [service, set] = lateValue<AiService>('service');
  before(async () => set(await startAiService(env)));
  after(() => service.stop());
  return service;
}

/** A remote model for the tests of a `describe`, whose requests are forgotten before each, and a service that uses it. */
export function useRemoteModel(envOf: (baseUrl: string) => Environment): { remote: RemoteModel; service: AiService } {
  const [remote, setRemote] = lateValue<RemoteModel>('remote');
  const [service, setService] = lateValue<AiService>('service');
  before(async () => {
    setRemote(await startRemoteModel());
    setService(await startAiService(envOf(remote.baseUrl)));
  });
  beforeEach(() => {
    remote.requests.length = 0;
  });
  after(async () => {
    await service.stop();
    await remote.stop();
  });
  return { remote, service };
}
