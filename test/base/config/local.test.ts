import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Environment } from '../../../base/config/environment.ts';
import { loadLocalConfig, nothingOutside } from '../../../base/config/local.ts';
import { changeVariables } from '../../../base/config/secret-files.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';

describe('npm start', () => {
  const beside = {
    DATABASE_URL: { DATABASE_DIRECT_URL: 'postgres://db/sheaf' },
    TEMPORAL_ADDRESS: { TEMPORAL_API_KEY: 'a key', TEMPORAL_TLS_CA: '/ca', TEMPORAL_TLS_CERT: '/cert', TEMPORAL_TLS_KEY: '/key' },
  };

  for (const [address, variables] of Object.entries(beside)) {
    const there = address === 'DATABASE_URL' ? 'postgres://there/sheaf' : 'there';
    const load = (env: Environment) => loadLocalConfig({ ...variables, ...env });

    it(`passes on what belongs to ${address}, and only with it: otherwise it is of another deployment`, () => {
      const named = load({ [address]: there });
      expect(named.overrides).to.include(variables);
      for (const blank of [{}, { [address]: ' ' }]) {
        const embedded = load(blank);
        expect(embedded.overrides).to.not.have.any.keys(...Object.keys(variables));
      }
    });
  }

  it('passes on a bucket, a mail server and an account of Stripe, which are never embedded', () => {
    const outside = {
      STRIPE_SECRET_KEY: 'sk_test',
      STRIPE_WEBHOOK_SECRET: 'whsec_test',
      STRIPE_PRICE_PRO: 'price_pro',
      ...{ STORAGE_DRIVER: 's3', STORAGE_BUCKET: 'a-bucket', STORAGE_REGION: 'eu-central-1' },
      ...{ STORAGE_ACCESS_KEY_ID: 'an id', STORAGE_SECRET_ACCESS_KEY: 'a secret' },
      SMTP_URL: 'smtp://mail',
      CONTACT_EMAIL: 'somebody@example.com',
    };
    const { STRIPE_PRICE_PRO, ...leading } = outside;
    const { overrides, programProblems } = loadLocalConfig(outside);
    expect(programProblems).to.deep.equal([]);
    expect(overrides).to.include(leading);
  });

  describe('with secrets in files', () => {
    let directory: string;
    const fileOf = (name: string, secret: string) => {
      writeFileSync(join(directory, name), `${secret}\n`);
      return join(directory, name);
    };
    before(() => {
      directory = makeTestDirectory();
    });
    after(() => removeTestDirectory(directory));

    it('passes on what they hold, and what belongs to an address in one', () => {
      const { overrides } = loadLocalConfig({
        DATABASE_URL_FILE: fileOf('database', 'postgres://pooler/sheaf'),
        DATABASE_DIRECT_URL: 'postgres://db/sheaf',
        SMTP_URL_FILE: fileOf('mail', 'smtp://mail'),
      });
      expect(overrides).to.include({ DATABASE_DIRECT_URL: 'postgres://db/sheaf', SMTP_URL: 'smtp://mail' });
    });

    it('names one that cannot be read among the problems of the programs', () => {
      const { programProblems, overrides } = loadLocalConfig({ SMTP_URL_FILE: join(directory, 'none') });
      expect(programProblems.map((problem) => problem.split(':')[0])).to.deep.equal(['SMTP_URL_FILE']);
      expect(overrides).to.not.have.any.keys('SMTP_URL');
    });

    it('reaches nothing outside by them once they are blanked', () => {
      const real = {
        DATABASE_URL_FILE: fileOf('real', 'postgres://db/sheaf'),
        DATABASE_DIRECT_URL_FILE: fileOf('direct', 'postgres://db/sheaf'),
        SMTP_URL_FILE: fileOf('real-mail', 'smtp://mail'),
        STRIPE_SECRET_KEY_FILE: fileOf('stripe', 'sk_live'),
        TEMPORAL_API_KEY_FILE: fileOf('temporal', 'a key of the cloud'),
      };
      const { external, overrides } = loadLocalConfig(changeVariables(real, { ...nothingOutside, DATABASE_URL: '' }));
      expect(external.databaseUrl).to.equal(undefined);
      for (const secret of ['smtp://mail', 'sk_live', 'a key of the cloud', 'postgres://db/sheaf'])
        expect(Object.values(overrides)).to.not.include(secret);
    });
  });
});
