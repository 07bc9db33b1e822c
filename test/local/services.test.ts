import { join } from 'node:path';
import { expect } from 'chai';
import { findFreePorts } from '../../local/ports.ts';
import { startService } from '../../local/services.ts';
import { createSupervisor, type ProcessSpec, type Supervisor } from '../../local/supervise.ts';
import { makeTestDirectory, removeTestDirectory } from '../support/directories.ts';

describe('a service of the local stack', () => {
  let dataDir: string;
  let supervisor: Supervisor;

  beforeEach(() => {
    dataDir = makeTestDirectory();
    supervisor = createSupervisor();
  });
  afterEach(async () => {
    await supervisor.close();
    removeTestDirectory(dataDir);
  });

  /** Starts the AI service, which is started as the API and the worker are, and returns how long it may take to stop. */
  async function stopLimitMs(env: Record<string, string>): Promise<number | undefined> {
    const started: ProcessSpec[] = [];
    const recording: Supervisor = {
      ...supervisor,
      run: (spec) => {
        started.push(spec);
        return supervisor.run(spec);
      },
    };
    const [ai = 0] = await findFreePorts(1);
    const running = await startService('ai', {
      supervisor: recording,
      dataDir,
      ports: { postgres: 0, temporal: 0, temporalUi: 0, ai, api: 0 },
      addresses: {},
      env: { AI_PORT: String(ai), SERVICE_TOKEN: 'a token that is long enough for a test', ...env },
      logFile: join(dataDir, 'ai.log'),
      durable: false,
      temporalUi: false,
      note: () => {},
    });
    await running.stop();
    return started[0]?.graceMs;
  }

  it('is killed only after what it may wait for, and some seconds', async () => {
    expect(await stopLimitMs({})).to.equal(15_000);
    expect(await stopLimitMs({ WORKER_SHUTDOWN_GRACE_MS: '60000' })).to.equal(65_000);
    expect(await stopLimitMs({ SHUTDOWN_DELAY_MS: '60000' })).to.equal(70_000);
  });
});
