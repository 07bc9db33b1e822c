import { expect } from 'chai';
import { handlers } from '../../../activities/handlers.ts';
import { type AiServiceConfig, loadAiServiceConfig } from '../../../base/config/ai-service.ts';
import { type Environment, findProblems } from '../../../base/config/environment.ts';
import { loadLocalConfig } from '../../../base/config/local.ts';
import { loadOpsConfig, type OpsConfig } from '../../../base/config/ops.ts';
import { loadServerConfig, type ServerConfig } from '../../../base/config/server.ts';
import { variables } from '../../../base/config/variables.ts';
import { jobKinds } from '../../../contract/jobs.ts';

const token = 'fedcba9876543210'.repeat(2);

/** What production demands, and no more. */
const server: Environment = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://db/sheaf',
  AUTH_SECRET: '0123456789abcdef'.repeat(4),
  SERVICE_TOKEN: token,
  SMTP_URL: 'smtp://mail',
};
const ai: Environment = { NODE_ENV: 'production', SERVICE_TOKEN: token };

const shells = ['tauri://localhost', 'http://tauri.localhost'];

/** A setting: what it is with its variable absent, empty or blank, outside of production, and with some values. */
type Row<C> = [
  name: string,
  read: (config: C) => unknown,
  absent: unknown,
  development: unknown,
  set: Record<string, unknown>,
  beside?: Environment,
];

const sells = { STRIPE_SECRET_KEY: 'sk_test', STRIPE_WEBHOOK_SECRET: 'whsec_test' };
const local = { driver: 'local', maxUploadBytes: 26_214_400 };
const bucket = { driver: 'bucket', bucket: 'documents', apiEndpoint: undefined, maxUploadBytes: 26_214_400 };
const inS3 = { STORAGE_DRIVER: 's3', STORAGE_BUCKET: 'documents' };
const s3 = {
  driver: 's3',
  bucket: 'documents',
  region: 'us-east-1',
  apiEndpoint: undefined,
  publicEndpoint: undefined,
  credentials: undefined,
};
const storeOf = ({ storage: { maxUploadBytes, ...store } }: ServerConfig) => store;
const web = 'http://localhost:5173';
const api = 'https://api.example.com';
const store = 'http://store:7070';

/** Every setting whose default is another in production, or depends on another variable. */
const serverRows: Row<ServerConfig>[] = [
  ['NODE_ENV', (config) => config.production, false, false, { production: true, test: false }],
  ['REQUIRE_EMAIL_VERIFICATION', (config) => config.requireEmailVerification, true, false, { false: false, true: true }],
  [
    'WEB_URL',
    (config) => [config.webUrl, ...config.trustedOrigins],
    [api, ...shells],
    [api, ...shells, web],
    { 'https://app.example.com/start/': ['https://app.example.com/start', ...shells, 'https://app.example.com'] },
    { API_URL: api },
  ],
  [
    'TRUSTED_ORIGINS',
    (config) => config.trustedOrigins,
    shells,
    [...shells, web],
    { 'https://one.a, https://two.a': ['https://one.a', 'https://two.a'], ',': [] },
  ],
  ['LIMITER_STORE', (config) => config.limits.store, 'postgres', 'memory', { memory: 'memory', postgres: 'postgres' }],
  ['MAX_ORGANIZATIONS_PER_USER', (config) => config.signUp.organizationsPerUser, 10, undefined, { 3: 3 }, sells],
  [
    'INVITATIONS_PER_DAY',
    ({ signUp }) => [signUp.invitationsPerDay, signUp.invitationsPerAddressPerDay],
    [200, 5],
    [undefined, undefined],
    { 3: [3, 5] },
  ],
  ['API_URL', (config) => config.apiUrl, 'http://localhost:4000', 'http://localhost:4000', { [`${api}/`]: api }, { PORT: '4000' }],
  ['WORKER_EMBED_CALLS', (config) => config.worker.embedCalls, 20, 20, { 0: 20, 3: 3 }, { WORKER_CONCURRENCY: '5' }],
  ['JOB_TIMEOUT_MS', (config) => config.jobs.timeoutMs, 600_000, 600_000, { 120000: 120_000 }, { LOCAL_EMBED_MODEL: 'e5' }],
  ['LOCAL_EMBED_MODEL', (config) => config.jobs.timeoutMs, 120_000, 120_000, { hash: 120_000, 'hash,e5': 600_000 }],
  [
    'STRIPE_PRICE_PRO',
    ({ billing }) => [billing.enabled, ...billing.pricesPro],
    [true],
    [true],
    { price_pro: [true, 'price_pro'], ' price_new, price_old,': [true, 'price_new', 'price_old'] },
    { ...sells, STRIPE_PRICE_TEAM: 'price_team' },
  ],
  [
    'STORAGE_DRIVER',
    ({ storage }) => storage.driver,
    'bucket',
    'bucket',
    { bucket: 'bucket', s3: 's3' },
    { STORAGE_BUCKET: 'documents', STORAGE_API_ENDPOINT: store },
  ],
  ['STORAGE_BUCKET', (config) => config.storage, local, local, { documents: bucket }],
  [
    'STORAGE_API_ENDPOINT',
    storeOf,
    { ...s3, region: 'eu' },
    { ...s3, region: 'eu' },
    { [`${store}/`]: { ...s3, region: 'eu', apiEndpoint: store, publicEndpoint: store } },
    { ...inS3, STORAGE_REGION: 'eu' },
  ],
  [
    'STORAGE_PUBLIC_ENDPOINT',
    storeOf,
    { ...s3, apiEndpoint: store, publicEndpoint: store },
    { ...s3, apiEndpoint: store, publicEndpoint: store },
    { 'https://files.example.com': { ...s3, apiEndpoint: store, publicEndpoint: 'https://files.example.com' } },
    { ...inS3, STORAGE_API_ENDPOINT: store },
  ],
];

const aiRows: Row<AiServiceConfig>[] = [
  ['SERVICE_AUTH_DISABLED', (config) => config.token, token, token, { false: token }],
  ['REMOTE_AI_KEY', (config) => config.remote.chat?.key, undefined, undefined, { 'a key': 'a key' }],
];

const opsRows: Row<OpsConfig>[] = [
  ['LOCAL_EMBED_MODEL', (config) => config.jobs.timeoutMs, 120_000, 120_000, { hash: 120_000, e5: 600_000 }],
  [
    'TEMPORAL_ADDRESS',
    ({ temporal }) => temporal.address,
    '127.0.0.1:7000',
    '127.0.0.1:7000',
    { 'temporal:7233': 'temporal:7233' },
    { EMBEDDED_TEMPORAL_PORT: '7000' },
  ],
  [
    'TEMPORAL_UI_URL',
    ({ temporal }) => temporal.uiUrl,
    'http://localhost:8000',
    'http://localhost:8000',
    { 'https://ui.a': 'https://ui.a' },
    { EMBEDDED_TEMPORAL_PORT: '7000' },
  ],
];

describe('In production', () => {
  describe('the API and the worker', () => tell(loadServerConfig, server, serverRows));
  describe('the AI service', () => tell(loadAiServiceConfig, ai, aiRows));
  describe("the operator's commands", () => tell(loadOpsConfig, { NODE_ENV: 'production' }, opsRows));

  for (const [name, value] of [
    ...['DATABASE_URL', 'AUTH_SECRET', 'SERVICE_TOKEN', 'SMTP_URL'].flatMap((each) => ['', '   '].map((blank) => [each, blank])),
    ['AUTH_SECRET', 'only 30 characters, not enough'],
    ['AUTH_SECRET', 'change-me-change-me-change-me-change-me'],
    ['SERVICE_TOKEN', 'changeme'],
    ['SERVICE_TOKEN', 'a'.repeat(40)],
    ['SERVICE_TOKEN', 'your-secret-0123456789abcdef0123456789abcdef'],
  ] as [string, string][])
    it(`the API refuses ${name}='${value}'`, () => {
      expect(findProblems(() => loadServerConfig({ ...server, [name]: value }))).to.have.length(1);
      expect(findProblems(() => loadServerConfig({ ...server, [name]: value }))[0]).to.match(new RegExp(`^${name}: `));
    });

  for (const provider of ['mailbox', 'none'])
    it(`the API refuses EMAIL_PROVIDER=${provider}`, () => {
      const refused = ['EMAIL_PROVIDER: must be smtp in production'];
      expect(findProblems(() => loadServerConfig({ ...server, EMAIL_PROVIDER: provider }))).to.deep.equal(refused);
    });

  it('the AI service refuses to serve without a secret, whatever SERVICE_AUTH_DISABLED says', () => {
    const refused = ['SERVICE_AUTH_DISABLED: must not be true in production'];
    expect(findProblems(() => loadAiServiceConfig({ ...ai, SERVICE_AUTH_DISABLED: 'true' }))).to.deep.equal(refused);
    expect(findProblems(() => loadAiServiceConfig({ NODE_ENV: 'production', SERVICE_AUTH_DISABLED: 'true' }))).to.deep.equal(refused);
    expect(loadAiServiceConfig({ SERVICE_AUTH_DISABLED: 'true' }).token).to.equal(null);
    for (const blank of ['', '   ']) expect(findProblems(() => loadAiServiceConfig({ ...ai, SERVICE_TOKEN: blank }))).to.have.length(1);
  });

  it('the AI service refuses a placeholder for its secret', () => {
    for (const placeholder of ['changeme', 'a'.repeat(40), 'your-secret-0123456789abcdef0123456789abcdef']) {
      const problems = findProblems(() => loadAiServiceConfig({ ...ai, SERVICE_TOKEN: placeholder }));
      expect(
        problems.map((problem) => problem.split(':')[0]),
        placeholder,
      ).to.deep.equal(['SERVICE_TOKEN']);
      expect(loadAiServiceConfig({ SERVICE_TOKEN: placeholder }).token).to.equal(placeholder);
    }
  });
});

describe('Outside production', () => {
  it('mails go to files unless an SMTP server is named', () => {
    const development = { ...server, NODE_ENV: 'development' };
    expect(loadServerConfig({ ...development, SMTP_URL: '' }).email.provider).to.equal('mailbox');
    expect(loadServerConfig({ ...development, EMAIL_PROVIDER: 'none' }).email.provider).to.equal('none');
    const refused = ['SMTP_URL: is missing while EMAIL_PROVIDER is smtp'];
    expect(findProblems(() => loadServerConfig({ ...development, EMAIL_PROVIDER: 'smtp', SMTP_URL: '' }))).to.deep.equal(refused);
  });
});

describe('A wrong configuration', () => {
  it('is told all at once: single variables, and what they must fulfil together', () => {
    const wrong = {
      NODE_ENV: 'production',
      PORT: 'many',
      AUTH_SECRET: 'change-me-change-me-change-me-change-me',
      SERVICE_TOKEN: ' ',
      COOKIE_DOMAIN: 'example.com',
      API_URL: 'https://api.example.org',
      PROVIDER_A_ISSUER: 'https://id.example.com',
      PROVIDER_B_ISSUER: 'no URL',
      WORKER_JOB_KINDS: 'text.embed,text.translate,text.sing',
    };
    expect(findProblems(() => loadServerConfig(wrong)).map((problem) => problem.split(':')[0])).to.have.members([
      ...['PORT', 'DATABASE_URL', 'PROVIDER_B_ISSUER', 'WORKER_JOB_KINDS', 'WORKER_JOB_KINDS'],
      ...['PROVIDER_A_CLIENT_ID', 'PROVIDER_A_CLIENT_SECRET', 'AUTH_SECRET', 'SERVICE_TOKEN', 'SMTP_URL'],
    ]);
    expect(findProblems(() => loadServerConfig({ ...wrong, PORT: '80' }))).to.include('COOKIE_DOMAIN: does not cover the host of API_URL');
  });

  it('is told once for each variable: what reads an unreadable one is not looked at', () => {
    const wrong = { ...server, SMTP_URL: 'http://mail', API_URL: 'no URL', COOKIE_DOMAIN: 'example.com', AUTH_SECRET: 'short' };
    expect(findProblems(() => loadServerConfig(wrong)).map((problem) => problem.split(':')[0])).to.have.members([
      ...['API_URL', 'AUTH_SECRET', 'SMTP_URL'],
    ]);
    expect(findProblems(() => loadServerConfig({ NODE_ENV: 'prod' }))).to.deep.equal([
      'NODE_ENV: must be development, test or production',
      'DATABASE_URL: is missing',
      'AUTH_SECRET: is missing',
    ]);
  });

  it('of the AI service is told all at once, too', () => {
    const wrong = { NODE_ENV: 'production', AI_PORT: 'x', SERVICE_AUTH_DISABLED: 'true' };
    expect(findProblems(() => loadAiServiceConfig(wrong)).map((problem) => problem.split(':')[0])).to.deep.equal([
      'AI_PORT',
      'SERVICE_AUTH_DISABLED',
    ]);
    expect(findProblems(() => loadAiServiceConfig({ MAX_PDF_PAGES: '0' }))).to.have.length(2);
  });
});

describe('A number of a configuration', () => {
  it('is refused if the database cannot hold it', () => {
    const problems = findProblems(() => loadServerConfig({ ...server, AUDIT_LOG_RETENTION_DAYS: '3000000' }));
    expect(problems).to.deep.equal(['AUDIT_LOG_RETENTION_DAYS: must be at most 1000000']);
  });
});

describe('A time of a configuration', () => {
  const names = variables.server.filter((name) => name.endsWith('_MS'));

  it('is refused if a timer cannot wait for it, which Node would run at once', () => {
    expect(names).to.include.members(['JOB_TIMEOUT_MS', 'WORKER_SHUTDOWN_GRACE_MS']);
    for (const name of names) {
      for (const value of ['2147483648', '9007199254740991']) {
        const problems = findProblems(() => loadServerConfig({ ...server, [name]: value }));
        expect(problems, name).to.have.length(1);
        expect(problems[0]).to.match(new RegExp(`^${name}: must be at most \\d+`));
      }
    }
    expect(findProblems(() => loadOpsConfig({ JOB_TIMEOUT_MS: '2147483648' }))).to.have.length(1);
    expect(loadServerConfig({ ...server, JOB_TIMEOUT_MS: '2147000000' }).jobs.timeoutMs).to.equal(2_147_000_000);
  });
});

describe('A configuration of billing', () => {
  const whole = { ...server, STRIPE_SECRET_KEY: 'sk_test', STRIPE_WEBHOOK_SECRET: 'whsec_test', STRIPE_PRICE_PRO: 'price_pro' };
  const names = (env: Environment) => findProblems(() => loadServerConfig(env)).map((problem) => problem.split(':')[0]);

  it('is on with both secrets, and off with neither', () => {
    expect(loadServerConfig(whole).billing.enabled).to.equal(true);
    expect(loadServerConfig({ ...whole, STRIPE_SECRET_KEY: '', STRIPE_WEBHOOK_SECRET: '' }).billing.enabled).to.equal(false);
  });

  for (const NODE_ENV of ['production', 'development']) {
    it(`is refused by halves in ${NODE_ENV}, for then nothing would be limited`, () => {
      for (const name of ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'])
        expect(names({ ...whole, NODE_ENV, [name]: ' ' })).to.deep.equal([name]);
    });

    it(`is on without a price in ${NODE_ENV}: there are limits, and nothing is sold`, () => {
      const { billing } = loadServerConfig({ ...whole, NODE_ENV, STRIPE_PRICE_PRO: ' , ' });
      expect([billing.enabled, billing.pricesPro, billing.pricesTeam]).to.deep.equal([true, [], []]);
    });
  }

  it('that is off caps nothing, unless a cap is set', () => {
    const off = { ...server, NODE_ENV: 'production' };
    expect(loadServerConfig(off).signUp.organizationsPerUser).to.equal(undefined);
    expect(loadServerConfig({ ...off, MAX_ORGANIZATIONS_PER_USER: '3' }).signUp.organizationsPerUser).to.equal(3);
  });

  it('is refused if a price is of two plans', () => {
    for (const name of ['STRIPE_PRICE_TEAM', 'STRIPE_SEAT_PRICE_TEAM'])
      expect(names({ ...whole, STRIPE_PRICE_TEAM: 'price_team', [name]: 'price_x,price_pro' })).to.deep.equal(['STRIPE_PRICE_PRO']);
  });
});

describe('A configuration of the store', () => {
  const whole = {
    ...{ STORAGE_DRIVER: 's3', STORAGE_BUCKET: 'documents', STORAGE_API_ENDPOINT: 'http://store:7070' },
    ...{ STORAGE_ACCESS_KEY_ID: 'an id', STORAGE_SECRET_ACCESS_KEY: 'a secret' },
  };
  const problems = (env: Environment) => [
    findProblems(() => loadServerConfig({ ...server, ...whole, ...env })),
    findProblems(() => loadOpsConfig({ ...whole, ...env })),
  ];
  const refused: [string, Environment, string][] = [
    ['without a bucket', { STORAGE_BUCKET: '' }, 'STORAGE_BUCKET: is missing while STORAGE_DRIVER is s3'],
    ['of another driver', { STORAGE_DRIVER: 'gcs' }, 'STORAGE_DRIVER: must be local, bucket or s3'],
    ['with half a key', { STORAGE_SECRET_ACCESS_KEY: ' ' }, 'STORAGE_SECRET_ACCESS_KEY: is missing while the other half of the key is set'],
    ['with the other half', { STORAGE_ACCESS_KEY_ID: '' }, 'STORAGE_ACCESS_KEY_ID: is missing while the other half of the key is set'],
    [
      'of Amazon without a region',
      { STORAGE_API_ENDPOINT: '' },
      'STORAGE_REGION: is missing; without STORAGE_API_ENDPOINT the bucket is in a region of Amazon',
    ],
  ];

  it('is read in the same way by the API, the worker and the commands', () => {
    expect(problems({})).to.deep.equal([[], []]);
    const { maxUploadBytes, ...store } = loadServerConfig({ ...server, ...whole }).storage;
    expect(store).to.deep.equal(loadOpsConfig(whole).store);
    expect(store).to.have.property('credentials').that.deep.equals({ accessKeyId: 'an id', secretAccessKey: 'a secret' });
  });

  for (const [what, env, problem] of refused)
    it(`is refused ${what}`, () => {
      for (const found of problems(env)) expect(found).to.deep.equal([problem]);
    });

  it('is refused with what only S3 reads, for then the driver is not the intended one', () => {
    for (const found of problems({ STORAGE_DRIVER: '' }))
      expect(found).to.deep.equal(
        ['STORAGE_ACCESS_KEY_ID', 'STORAGE_SECRET_ACCESS_KEY'].map((name) => `${name}: is read only if STORAGE_DRIVER is s3`),
      );
    expect(findProblems(() => loadServerConfig({ ...server, STORAGE_DRIVER: 'local', STORAGE_BUCKET: 'documents' }))).to.deep.equal([
      'STORAGE_BUCKET: is set while STORAGE_DRIVER is local',
    ]);
  });
});

describe('TRUSTED_ORIGINS', () => {
  const problems = (TRUSTED_ORIGINS: string) => findProblems(() => loadServerConfig({ ...server, TRUSTED_ORIGINS }));

  // Patterns would let mailed links lead to whoever fits them; the others are no browser's `Origin`, and would trust nobody.
  for (const wrong of [
    '*',
    'https://*.example.com',
    'https://app?.example.com',
    'https://app.example.com/',
    'HTTPS://app.example.com',
    'app',
  ])
    it(`is refused with ${wrong}`, () => {
      for (const value of [wrong, `tauri://localhost,${wrong}`])
        expect(problems(value).map((problem) => problem.slice(0, 36))).to.deep.equal(['TRUSTED_ORIGINS: must be origins as ']);
    });

  it('has no pattern of WEB_URL beside them either', () => {
    expect(findProblems(() => loadServerConfig({ ...server, WEB_URL: 'https://*.example.com' }))).to.deep.equal([
      'WEB_URL: must not have a * in its host',
    ]);
  });

  it('takes origins of the web and of applications', () => {
    for (const right of ['https://app.example.com:8443', 'http://[::1]:5173', 'tauri://localhost', 'chrome-extension://abcdefgh'])
      expect(problems(right), right).to.deep.equal([]);
  });
});

describe('A configuration of the way to Postgres and Temporal', () => {
  const address = { TEMPORAL_ADDRESS: 'temporal:7233' };
  const problems = (env: Environment) => [
    findProblems(() => loadServerConfig({ ...server, ...address, ...env })),
    findProblems(() => loadOpsConfig({ ...address, ...env })),
    loadLocalProblems({ ...address, ...env }),
  ];
  const here = import.meta.filename;
  const noUrl = 'must be a postgres:// URL; in its password, #, / and ? are written as %23, %2F and %3F';
  const noHost = 'must be HOST or HOST:PORT, without http://';

  for (const name of ['DATABASE_URL', 'DATABASE_DIRECT_URL'])
    for (const value of ['sheaf', 'http://db/sheaf', 'postgres://sheaf:pass#word@db:5432/sheaf'])
      it(`is refused with ${name}=${value}, without a word of the value`, () => {
        for (const found of problems({ DATABASE_URL: 'postgres://db/sheaf', [name]: value }))
          expect(found).to.deep.equal([`${name}: ${noUrl}`]);
      });

  for (const value of ['http://temporal:7233', 'temporal:7233/', 'temporal:port', 'two temporals', ':7233'])
    it(`is refused with TEMPORAL_ADDRESS='${value}'`, () => {
      for (const found of problems({ TEMPORAL_ADDRESS: value })) expect(found).to.deep.equal([`TEMPORAL_ADDRESS: ${noHost}`]);
    });

  it('is refused with half a certificate: the connection would be open, or show none', () => {
    for (const found of problems({ TEMPORAL_TLS_KEY: here }))
      expect(found).to.deep.equal(['TEMPORAL_TLS_CERT: is missing while the other half is set']);
    for (const found of problems({ TEMPORAL_TLS_CERT: here }))
      expect(found).to.deep.equal(['TEMPORAL_TLS_KEY: is missing while the other half is set']);
  });

  it('is refused with a file that cannot be read', () => {
    for (const found of problems({ TEMPORAL_TLS_CA: '/nowhere/ca.pem' }))
      expect(found).to.deep.equal(['TEMPORAL_TLS_CA: /nowhere/ca.pem cannot be read (ENOENT)']);
  });

  it('is taken as Postgres and Temporal take it', () => {
    for (const url of [
      'postgres://u:p%23@db:5432/sheaf?sslmode=require',
      'postgresql:///sheaf?host=/run/postgresql',
      'postgres://u:p@/sheaf?host=/cloudsql/project:region:name',
      'postgres://[::1]/sheaf',
    ])
      for (const found of problems({ DATABASE_URL: url })) expect(found, url).to.deep.equal([]);
    for (const TEMPORAL_ADDRESS of ['localhost', '127.0.0.1:7233', '[::1]:7233', 'sheaf.a1b2c.tmprl.cloud:7233'])
      for (const found of problems({ TEMPORAL_ADDRESS, TEMPORAL_TLS_CA: here, TEMPORAL_TLS_CERT: here, TEMPORAL_TLS_KEY: here }))
        expect(found, TEMPORAL_ADDRESS).to.deep.equal([]);
  });

  it('is not looked at by what has an embedded Temporal', () => {
    const unused = { TEMPORAL_TLS_KEY: here, TEMPORAL_TLS_CA: '/nowhere/ca.pem' };
    expect([findProblems(() => loadOpsConfig(unused)), loadLocalProblems(unused)]).to.deep.equal([[], []]);
  });
});

/** What `npm start` says of its configuration, whether it is a problem of the stack or of the programs. */
function loadLocalProblems(env: Environment): string[] {
  const thrown = findProblems(() => loadLocalConfig(env));
  return thrown.length > 0 ? thrown : loadLocalConfig(env).programProblems;
}

describe('WORKER_JOB_KINDS', () => {
  it('takes each kind that a worker has a handler for', () => {
    expect(jobKinds).to.have.members(Object.keys(handlers));
    expect(loadServerConfig({ ...server, WORKER_JOB_KINDS: 'text.embed, document.index' }).worker.jobKinds).to.deep.equal([
      'text.embed',
      'document.index',
    ]);
  });
});

/** Tests a table. */
function tell<C>(load: (env: Environment) => C, base: Environment, rows: Row<C>[]): void {
  for (const [name, read, absent, development, set, beside = {}] of rows)
    it(`${name} has its default if it is absent, empty or blank, and else what it is set to`, () => {
      const value = (env: Environment) => read(load({ ...base, ...beside, ...env }));
      for (const nothing of [undefined, '', '  ']) expect(value({ [name]: nothing }), `'${nothing}'`).to.deep.equal(absent);
      expect(value({ NODE_ENV: 'development', [name]: undefined }), 'in development').to.deep.equal(development);
      for (const [text, expected] of Object.entries(set)) expect(value({ [name]: text }), text).to.deep.equal(expected);
    });
}
