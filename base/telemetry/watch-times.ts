import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Gauge, type Registry } from 'prom-client';
import { within } from '../concurrency/within.ts';

/** How long a scrape waits for the database, in milliseconds. */
const patienceMs = 2_000;

interface WatchedTimes {
  /** How far the database's clock is ahead of that of this process, in milliseconds. */
  measureSkewMs(): Promise<number>;
  /** The files of the certificates that this process uses, by their names; undefined for those that it does not. */
  certificates: Record<string, string | undefined>;
}

/** The certificates of the connection to Temporal. */
export function certificatesOf({
  tls,
}: {
  tls: { ca?: string | undefined; cert?: string | undefined };
}): Record<string, string | undefined> {
  return { TEMPORAL_TLS_CA: tls.ca, TEMPORAL_TLS_CERT: tls.cert };
}

/** Shows, as of each scrape, the difference of the clocks, and when certificates end. What cannot be read has no value. */
export function watchTimes(registry: Registry, { measureSkewMs, certificates }: WatchedTimes): void {
  const registers = [registry];
  new Gauge({
    name: 'sheaf_clock_skew_seconds',
    help: "How far the database's clock is ahead of that of this process",
    registers,
    async collect() {
      const ms = await within(patienceMs, measureSkewMs()).catch(() => undefined);
      if (typeof ms === 'number') this.set(Math.round(ms) / 1_000);
      else this.remove();
    },
  });
  new Gauge({
    name: 'sheaf_certificate_end_timestamp_seconds',
    help: 'When a certificate that this process uses ends, by the setting that names its file',
    labelNames: ['setting'],
    registers,
    async collect() {
      this.reset();
      for (const [setting, path] of Object.entries(certificates)) {
        const end = path === undefined ? undefined : await readEnd(path).catch(() => undefined);
        if (end !== undefined) this.set({ setting }, end);
      }
    },
  });
}

const [begin, end] = ['-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----'];

/** The earliest end of the certificates in a file, in seconds since 1970. */
async function readEnd(path: string): Promise<number> {
  const parts = (await readFile(path, 'utf8')).split(end).filter((part) => part.includes(begin));
  return Math.min(...parts.map((part) => new X509Certificate(part.slice(part.indexOf(begin)) + end).validToDate.getTime() / 1_000));
}
