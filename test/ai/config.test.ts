import { expect } from 'chai';
import { loadAiServiceConfig } from '../../base/config/ai-service.ts';
import { ConfigurationError } from '../../base/config/environment.ts';
import { extraContentTypes } from '../../base/config/extra-content-types.ts';
import { runProgram } from '../support/processes.ts';

describe('the configuration of the AI service', () => {
  it('has the defaults that docs/configuration.md names', () => {
    expect(loadAiServiceConfig({ SERVICE_TOKEN: 'secret' })).to.deep.equal({
      host: undefined,
      port: 8000,
      token: 'secret',
      maxUploadBytes: 26_214_400,
      maxTextCharacters: 200_000,
      maxPdfPages: 500,
      extractTimeoutMs: 75_000,
      ocrTimeoutMs: 60_000,
      metrics: { host: '127.0.0.1', port: 0 },
      tracing: {
        endpoint: undefined,
        headers: {},
        sampler: { name: 'parentbased_always_on', ratio: 1 },
        batchDelayMs: 5_000,
      },
      readers: 2,
      recognizers: 1,
      localEmbedModel: 'hash',
      usesMinilm: false,
      ocrProvider: 'auto',
      extraContentTypes: [],
      readsScannedPdfs: false,
      maxScannedPages: 20,
      scannedPdfTimeoutMs: 100_000,
      ocrLanguages: ['eng'],
      ocrLanguagesDirectory: undefined,
      ocrModelsDirectory: undefined,
      programPath: [],
      remote: null,
      logLevel: 'info',
    });
  });

  it('demands a token unless authentication is disabled', () => {
    expect(() => loadAiServiceConfig({})).to.throw(ConfigurationError, 'SERVICE_TOKEN');
    expect(() => loadAiServiceConfig({ SERVICE_TOKEN: '   ' })).to.throw(ConfigurationError, 'SERVICE_TOKEN');
    expect(() => loadAiServiceConfig({ SERVICE_AUTH_DISABLED: 'false' })).to.throw(ConfigurationError, 'SERVICE_TOKEN');
    expect(loadAiServiceConfig({ SERVICE_AUTH_DISABLED: 'true' }).token).to.equal(null);
  });

  it('names every problem at once', () => {
    const load = () =>
      loadAiServiceConfig({
        AI_PORT: 'x',
        MAX_PDF_PAGES: '0',
        OCR_PROVIDER: 'tesseract',
        LOCAL_EMBED_MODEL: 'bert',
        LOCAL_PREVIOUS_EMBED_MODEL: 'bert',
        SERVICE_AUTH_DISABLED: '1',
      });
    for (const name of ['AI_PORT', 'MAX_PDF_PAGES', 'OCR_PROVIDER', 'LOCAL_EMBED_MODEL', 'SERVICE_AUTH_DISABLED'])
      expect(load).to.throw(name);
    expect(load).to.throw('LOCAL_PREVIOUS_EMBED_MODEL: must be hash or minilm');
  });

  it('knows the kinds of EXTRA_CONTENT_TYPES, and no others', () => {
    const load = (kinds: string) => loadAiServiceConfig({ SERVICE_TOKEN: 'secret', EXTRA_CONTENT_TYPES: kinds }).extraContentTypes;
    expect(load('eml, odt,eml')).to.deep.equal(['message/rfc822', 'application/vnd.oasis.opendocument.text']);
    expect(load('all')).to.deep.equal(Object.values(extraContentTypes));
    for (const nothing of ['', 'none']) expect(load(nothing)).to.deep.equal([]);
    for (const wrong of ['docx,exe', 'all,docx'])
      expect(() => load(wrong)).to.throw('EXTRA_CONTENT_TYPES: must be all, none, or names of docx');
  });

  it('knows a host for each role of a remote model, and sends the key of all to none of them', () => {
    const load = (variables: Record<string, string>) => loadAiServiceConfig({ SERVICE_TOKEN: 's', ...variables }).remote;
    const all = { REMOTE_AI_KEY: 'k', REMOTE_AI_BASE_URL: 'http://all.example/v1' };
    const host = { baseUrl: 'http://all.example/v1', key: 'k' };
    const hosts = { chat: host, embed: host, vision: host, rerank: host };
    for (const [role, field] of [
      ['CHAT', 'chat'],
      ['EMBED', 'embed'],
      ['VISION', 'vision'],
      ['RERANK', 'rerank'],
    ] as const) {
      const url = { [`REMOTE_AI_${role}_BASE_URL`]: 'http://own.example/v1/' };
      const key = { [`REMOTE_AI_${role}_KEY`]: 'own' };
      const own = { baseUrl: 'http://own.example/v1', key: 'own' };
      expect(load({ ...all, ...url, ...key })).to.deep.include({ ...hosts, [field]: own });
      expect(load({ ...all, ...key })?.[field]).to.deep.equal({ baseUrl: 'http://all.example/v1', key: 'own' });
      expect(load({ ...all, ...url })?.[field]).to.deep.equal({ baseUrl: 'http://own.example/v1', key: undefined });
      // By itself it makes no other role remote.
      expect(load(url)).to.deep.include({ chat: null, embed: null, vision: null, rerank: null, [field]: { ...own, key: undefined } });
      expect(() => load(key), role).to.throw(`REMOTE_AI_${role}_BASE_URL: is missing while REMOTE_AI_${role}_KEY is set`);
    }
  });

  it('refuses text recognition that cannot work', () => {
    const load = (variables: Record<string, string>) => () => loadAiServiceConfig({ SERVICE_TOKEN: 'secret', ...variables });
    expect(load({ OCR_SCANNED_PDF: 'true', OCR_PROVIDER: 'none' })).to.throw('OCR_SCANNED_PDF');
    expect(load({ OCR_PROVIDER: 'remote' })).to.throw('REMOTE_AI_KEY: is missing while OCR_PROVIDER is remote');
    expect(load({ OCR_PROVIDER: 'remote', REMOTE_AI_KEY: 'k' })().ocrProvider).to.equal('remote');
    expect(load({ OCR_LANGUAGES: '../eng', OCR_LANGUAGES_DIR: '/data' })).to.throw('OCR_LANGUAGES');
    expect(load({ OCR_LANGUAGES: 'eng,deu', OCR_LANGUAGES_DIR: 'data' })).to.throw('OCR_LANGUAGES_DIR');
    expect(load({ OCR_LANGUAGES: 'eng, chi_sim', OCR_LANGUAGES_DIR: '/data' })().ocrLanguages).to.deep.equal(['eng', 'chi_sim']);
  });

  it('turns to the remote model once there is a key', () => {
    const { remote } = loadAiServiceConfig({ SERVICE_TOKEN: 's', REMOTE_AI_KEY: 'k', REMOTE_AI_BASE_URL: 'http://models.example/v1/' });
    const host = { key: 'k', baseUrl: 'http://models.example/v1' };
    expect(remote).to.deep.include({ chat: host, embed: host, vision: host });
    expect(loadAiServiceConfig({ SERVICE_TOKEN: 's', REMOTE_AI_KEY: 'k' }).remote?.chat?.baseUrl).to.equal('https://api.openai.com/v1');
    const previous = { SERVICE_TOKEN: 's', REMOTE_AI_PREVIOUS_EMBED_DIMENSIONS: '512' };
    expect(() => loadAiServiceConfig(previous)).to.throw('REMOTE_AI_PREVIOUS_EMBED_MODEL: is missing');
  });

  it('refuses a length of chunks for a model before that has no name, or is the same', () => {
    const load = (variables: Record<string, string>) => () =>
      loadAiServiceConfig({ SERVICE_TOKEN: 's', REMOTE_AI_KEY: 'k', REMOTE_AI_EMBED_MODEL: 'embedder', ...variables }).remote;
    const previous = { REMOTE_AI_PREVIOUS_CHUNK_CHARACTERS: '600' };
    expect(load(previous)).to.throw('REMOTE_AI_PREVIOUS_EMBED_MODEL: is missing');
    const same = { ...previous, REMOTE_AI_PREVIOUS_EMBED_MODEL: 'embedder' };
    expect(load(same)).to.throw('REMOTE_AI_PREVIOUS_CHUNK_CHARACTERS: must be');
    expect(load({ ...same, REMOTE_AI_CHUNK_CHARACTERS: '600' })()).to.include({ chunkCharacters: 600, previousChunkCharacters: 600 });
    expect(load({ REMOTE_AI_PREVIOUS_EMBED_MODEL: 'embedder', REMOTE_AI_CHUNK_CHARACTERS: '600' })()).to.include({ chunkCharacters: 600 });
  });

  it('waits for vectors of a remote model for 30 seconds, or as long as it is told, but not longer than a connection does', () => {
    const load = (seconds?: string) =>
      loadAiServiceConfig({ SERVICE_TOKEN: 's', REMOTE_AI_KEY: 'k', REMOTE_AI_EMBED_SECONDS: seconds }).remote?.embedTimeoutMs;
    expect([load(), load('1'), load('240')]).to.deep.equal([30_000, 1_000, 240_000]);
    for (const seconds of ['0', '241', '1.5']) expect(() => load(seconds), seconds).to.throw('REMOTE_AI_EMBED_SECONDS: must be');
  });

  it('has chunks of 1,200 characters for a remote model, or of as many as it is told, and for the one before it', () => {
    const load = (variables: Record<string, string> = {}) => loadAiServiceConfig({ SERVICE_TOKEN: 's', REMOTE_AI_KEY: 'k', ...variables });
    expect(load().remote).to.include({ chunkCharacters: 1_200, previousChunkCharacters: 1_200 });
    for (const [name, field] of [
      ['REMOTE_AI_CHUNK_CHARACTERS', 'chunkCharacters'],
      ['REMOTE_AI_PREVIOUS_CHUNK_CHARACTERS', 'previousChunkCharacters'],
    ] as const) {
      expect(load({ [name]: '200', REMOTE_AI_PREVIOUS_EMBED_MODEL: 'former' }).remote).to.have.property(field, 200);
      for (const characters of ['199', '1201']) expect(() => load({ [name]: characters })).to.throw(`${name}: must be`);
    }
  });

  it('refuses the address of a remote model without a key, and one with a password, which it does not repeat', () => {
    const load = (variables: Record<string, string>) => loadAiServiceConfig({ SERVICE_TOKEN: 's', ...variables });
    const address = { REMOTE_AI_BASE_URL: 'http://models.example/v1' };
    expect(() => load(address)).to.throw('REMOTE_AI_KEY: is missing while');
    expect(() => load({ ...address, REMOTE_AI_KEY: ' ' })).to.throw('REMOTE_AI_KEY: is missing while');
    for (const user of ['ada:quinquereme', 'quinquereme', ':quinquereme'])
      expect(() => load({ REMOTE_AI_KEY: 'k', REMOTE_AI_BASE_URL: `https://${user}@models.example/v1` }), user)
        .to.throw('REMOTE_AI_BASE_URL: must not hold a name or a password')
        .with.property('message')
        .that.does.not.contain('quinquereme');
  });

  it('keeps the service from starting when it is wrong', async () => {
    const program = runProgram(process.execPath, ['ai/main.ts'], { env: { SERVICE_TOKEN: '', AI_PORT: '0' } });
    expect(await program.exited).to.include({ code: 1 });
    expect(program.stderr()).to.contain('SERVICE_TOKEN');
  });
});
