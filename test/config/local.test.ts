import { expect } from 'chai';
import type { Environment } from '../../config/environment.ts';
import { loadLocalConfig } from '../../config/local.ts';

describe('npm start', () => {
  const beside = {
    DATABASE_URL: { DATABASE_DIRECT_URL: 'postgres://db/sheaf' },
    TEMPORAL_ADDRESS: { TEMPORAL_API_KEY: 'a key', TEMPORAL_TLS_CA: '/ca', TEMPORAL_TLS_CERT: '/cert', TEMPORAL_TLS_KEY: '/key' },
  };

  for (const [address, variables] of Object.entries(beside)) {
    const load = (env: Environment) => loadLocalConfig({ ...variables, ...env });

    it(`passes on what belongs to ${address}, and only with it: otherwise it is of another deployment`, () => {
      const named = load({ [address]: 'there' });
      expect(named.overrides).to.include(variables);
      expect(named.notTaken).to.deep.equal([]);
      for (const blank of [{}, { [address]: ' ' }]) {
        const embedded = load(blank);
        expect(embedded.overrides).to.not.have.any.keys(...Object.keys(variables));
        expect(embedded.notTaken.map((sentence) => sentence.split(':')[0])).to.have.members(Object.keys(variables));
      }
    });
  }

  it('passes on a bucket, a mail server and an account of Stripe, which are never embedded', () => {
    const outside = {
      STRIPE_SECRET_KEY: 'sk_test',
      STRIPE_WEBHOOK_SECRET: 'whsec_test',
      STRIPE_PRICE_PRO: 'price_pro',
      ...{ STORAGE_DRIVER: 's3', STORAGE_BUCKET: 'a-bucket', STORAGE_REGION: 'eu-central-1', STORAGE_PATH_STYLE: 'true' },
      ...{ STORAGE_ACCESS_KEY_ID: 'an id', STORAGE_SECRET_ACCESS_KEY: 'a secret' },
      SMTP_URL: 'smtp://mail',
      CONTACT_EMAIL: 'somebody@example.com',
    };
    const { STRIPE_PRICE_PRO, ...leading } = outside;
    const { overrides, programProblems } = loadLocalConfig(outside);
    expect(programProblems).to.deep.equal([]);
    expect(overrides).to.include(leading);
  });
});
