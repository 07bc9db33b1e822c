import { expect } from 'chai';
import { loadAiServiceConfig } from '../../base/config/ai-service.ts';
import { extraKinds as extraContentTypes } from '../../contract/content-types.ts';

describe('the configuration of the AI service', () => {
  it('has the defaults that docs/configuration.md names', () => {
    expect(loadAiServiceConfig({ SERVICE_TOKEN: 'secret' })).to.deep.equal({
      host: undefined,
      port: 8000,
      token: 'secret',
      previousToken: undefined,
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
      embedModelFile: undefined,
      ocrProvider: 'auto',
      extraContentTypes: [],
      readsScannedPdfs: false,
      ocrLanguages: ['eng'],
      ocrLanguagesDirectory: undefined,
      modelsDirectory: undefined,
      programPath: [],
      remote: { chat: null, embed: null, previousEmbed: null, vision: null, rerank: null },
      logLevel: 'info',
    });
  });

  it('names every problem at once', () => {
    const load = () =>
      loadAiServiceConfig({
        AI_PORT: 'x',
        MAX_PDF_PAGES: '0',
        OCR_PROVIDER: 'tesseract',
        LOCAL_EMBED_MODEL: 'hash,bert',
        SERVICE_AUTH_DISABLED: '1',
      });
    for (const name of ['AI_PORT', 'MAX_PDF_PAGES', 'OCR_PROVIDER', 'LOCAL_EMBED_MODEL', 'SERVICE_AUTH_DISABLED'])
      expect(load).to.throw(name);
    expect(load).to.throw('LOCAL_EMBED_MODEL: must be hash or e5');
  });

  it('knows the kinds of EXTRA_CONTENT_TYPES, and no others', () => {
    const load = (kinds: string) => loadAiServiceConfig({ SERVICE_TOKEN: 'secret', EXTRA_CONTENT_TYPES: kinds }).extraContentTypes;
    expect(load('eml, odt,eml')).to.deep.equal(['message/rfc822', 'application/vnd.oasis.opendocument.text']);
    expect(load('all')).to.deep.equal(Object.values(extraContentTypes));
    for (const nothing of ['', 'none']) expect(load(nothing)).to.deep.equal([]);
    for (const wrong of ['docx,exe', 'all,docx'])
      expect(() => load(wrong)).to.throw('EXTRA_CONTENT_TYPES: must be all, none, or names of docx');
  });

  it('knows an endpoint for each role of a remote model, and sends the key of all to none of them', () => {
    const all = { REMOTE_AI_KEY: 'k', REMOTE_AI_BASE_URL: 'http://all.example/v1', REMOTE_AI_RERANK: '?model=ranker' };
    const common = { baseUrl: 'http://all.example/v1', key: 'k' };
    const usual = remoteOf(all);
    expect(usual.chat).to.deep.equal({ ...common, model: 'gpt-4o-mini', context: 12_000 });
    expect(usual.embed).to.deep.include({ ...common, model: 'text-embedding-3-small', chunkCharacters: 1_200, batch: 64, seconds: 30 });
    expect([usual.vision, usual.rerank]).to.deep.equal([
      { ...common, model: 'gpt-4o-mini' },
      { ...common, model: 'ranker' },
    ]);
    for (const [role, field] of [
      ['CHAT', 'chat'],
      ['EMBED', 'embed'],
      ['PREVIOUS_EMBED', 'previousEmbed'],
      ['VISION', 'vision'],
      ['RERANK', 'rerank'],
    ] as const) {
      const name = `REMOTE_AI_${role}`;
      const own = { baseUrl: 'http://own.example:8001/v1', key: 'a/b#c:d', model: 'Qwen/Qwen3-8B' };
      const changed = remoteOf({ ...all, [name]: 'http://a%2Fb%23c%3Ad@own.example:8001/v1/?model=Qwen/Qwen3-8B' });
      expect(changed[field], role).to.include(own);
      expect({ ...changed, [field]: usual[field] }, role).to.deep.equal(usual);
      expect(remoteOf({ ...all, [name]: '?model=other' })[field], role).to.include({ ...common, model: 'other' });
      // By itself it makes no other role remote, and needs no key.
      const { [field]: alone, ...others } = remoteOf({ [name]: 'http://own.example/v1?model=m' });
      expect(alone, role).to.include({ baseUrl: 'http://own.example/v1', key: undefined });
      expect(Object.values(others), role).to.deep.equal([null, null, null, null]);
      expect(() => remoteOf({ [name]: '?model=other' }), role).to.throw(`REMOTE_AI_KEY: is missing while ${name} names no endpoint`);
    }
    expect(remoteOf({ REMOTE_AI_CHAT_MODEL: 'talker', REMOTE_AI_CHAT: 'http://own.example/v1' }).chat).to.include({ model: 'talker' });
  });

  it('refuses the URL of a role that is none, in words that do not repeat it', () => {
    for (const wrong of [
      'quinquereme',
      'ftp://quinquereme@models.example/v1',
      'https://ada:quinquereme@models.example/v1',
      'https://quinque#reme@models.example/v1',
      'https://quinquereme%zz@models.example/v1',
      'https://models/quinquereme@models.example/v1',
    ])
      expect(() => remoteOf({ REMOTE_AI_CHAT: wrong }), wrong)
        .to.throw('REMOTE_AI_CHAT: must be a URL such as')
        .with.property('message')
        .that.does.not.contain('quinque');
    for (const [query, problem] of [
      ['?model=', 'model is missing'],
      ['?api-version=1', 'has parameters other than model, context'],
      ['https://key?quinquereme@models.example/v1', 'has parameters other than model, context'],
      ['?context=499', 'context must be at least 500'],
    ] as const)
      expect(() => remoteOf({ REMOTE_AI_KEY: 'k', REMOTE_AI_CHAT: query }), query).to.throw(`REMOTE_AI_CHAT: ${problem}`);
    for (const role of ['RERANK', 'PREVIOUS_EMBED'])
      expect(() => remoteOf({ [`REMOTE_AI_${role}`]: 'https://models.example/v1' })).to.throw(`REMOTE_AI_${role}: model is missing`);
  });

  it('refuses text recognition that cannot work', () => {
    const load = (variables: Record<string, string>) => () => loadAiServiceConfig({ SERVICE_TOKEN: 'secret', ...variables });
    expect(load({ OCR_SCANNED_PDF: 'true', OCR_PROVIDER: 'none' })).to.throw('OCR_SCANNED_PDF');
    expect(load({ OCR_LANGUAGES: '../eng', OCR_LANGUAGES_DIR: '/data' })).to.throw('OCR_LANGUAGES');
    expect(load({ OCR_LANGUAGES: 'eng,deu', OCR_LANGUAGES_DIR: 'data' })).to.throw('OCR_LANGUAGES_DIR');
    expect(load({ OCR_LANGUAGES: 'eng, chi_sim', OCR_LANGUAGES_DIR: '/data' })().ocrLanguages).to.deep.equal(['eng', 'chi_sim']);
  });

  it('refuses another length of chunks for the model before if it is the same', () => {
    const load = (embed: string, previous: string) => () =>
      remoteOf({ REMOTE_AI_KEY: 'k', REMOTE_AI_EMBED_MODEL: 'embedder', REMOTE_AI_EMBED: embed, REMOTE_AI_PREVIOUS_EMBED: previous });
    expect(load('', '?model=embedder&chunkCharacters=600')).to.throw('REMOTE_AI_PREVIOUS_EMBED: chunkCharacters must be that of');
    expect(load('?chunkCharacters=600', '?model=embedder')).to.throw('REMOTE_AI_PREVIOUS_EMBED: chunkCharacters must be that of');
    const same = load('?chunkCharacters=600', '?model=embedder&chunkCharacters=600')();
    expect([same.embed?.chunkCharacters, same.previousEmbed?.chunkCharacters]).to.deep.equal([600, 600]);
    const other = load('?model=new&chunkCharacters=600', '?model=embedder')();
    expect([other.embed?.chunkCharacters, other.previousEmbed?.chunkCharacters]).to.deep.equal([600, 1_200]);
  });

  it('bounds what a request for vectors has and takes: a connection waits for five minutes at most', () => {
    for (const [name, least, most] of [
      ['seconds', 1, 240],
      ['batch', 1, 64],
      ['chunkCharacters', 200, 1_200],
      ['dimensions', 1, 16_000],
    ] as const)
      for (const role of ['EMBED', 'PREVIOUS_EMBED'] as const) {
        const load = (value: string | number) => remoteOf({ REMOTE_AI_KEY: 'k', [`REMOTE_AI_${role}`]: `?model=m&${name}=${value}` });
        for (const value of [least, most])
          expect(load(value)[role === 'EMBED' ? 'embed' : 'previousEmbed'], `${name} ${value}`).to.include({ [name]: value });
        for (const value of [least - 1, most + 1, '1.5']) expect(() => load(value), name).to.throw(`REMOTE_AI_${role}: ${name} must be`);
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
});

const remoteOf = (variables: Record<string, string>) => loadAiServiceConfig({ SERVICE_TOKEN: 's', ...variables }).remote;
