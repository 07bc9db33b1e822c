import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { Registry } from 'prom-client';
import { watchTimes } from '../../../base/telemetry/watch-times.ts';
import { makeTestDirectory, removeTestDirectory } from '../../support/directories.ts';

describe('The metrics of times', () => {
  it('have the difference of the clocks, and the end of each certificate that is used, as of each scrape', async () => {
    const directory = makeTestDirectory();
    const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '10', '-subj', '/CN=sheaf', '-keyout', key, '-out', cert],
      {
        stdio: 'ignore',
      },
    );
    let skewMs = 1_500;
    const registry = new Registry();
    const certificates = { TEMPORAL_TLS_CERT: cert, TEMPORAL_TLS_CA: undefined, GONE: join(directory, 'gone.pem') };
    watchTimes(registry, {
      measureSkewMs: async () => (Number.isNaN(skewMs) ? Promise.reject(new Error('silent')) : skewMs),
      certificates,
    });
    const read = await registry.metrics();
    expect(read).to.include('sheaf_clock_skew_seconds 1.5');
    const end = Number(/sheaf_certificate_end_timestamp_seconds\{setting="TEMPORAL_TLS_CERT"\} (\d+)/.exec(read)?.[1]);
    expect(end).to.be.closeTo(Date.now() / 1_000 + 10 * 86_400, 120);
    expect(read).not.to.match(/setting="(TEMPORAL_TLS_CA|GONE)"/);
    skewMs = -2_000;
    expect(await registry.metrics()).to.include('sheaf_clock_skew_seconds -2');
    skewMs = Number.NaN;
    expect(await registry.metrics()).not.to.match(/^sheaf_clock_skew_seconds /m);
    removeTestDirectory(directory);
  });
});
