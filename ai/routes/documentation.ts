import { Router } from 'express';
import type { AiServiceConfig } from '../../base/config/ai-service.ts';
import { escapeHtml } from '../../base/text/escape-html.ts';
import type { describeAiService } from '../../contract/ai-service/openapi.ts';

type OpenApiDocument = ReturnType<typeof describeAiService>;

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}pre{background:#f4f4f4;padding:1rem;overflow:auto}';

/**
 * GET /openapi.json, loaded and built when it is first asked for, and at /docs and /redoc the same document as a self-contained page.
 */
export function documentationRoutes(config: AiServiceConfig): Router {
  let built: Promise<OpenApiDocument> | undefined;
  const document = () => {
    built ??= import('../../contract/ai-service/openapi.ts').then((module) => module.describeAiService(config));
    return built;
  };
  const router = Router();
  router.get('/openapi.json', async (_request, response) => {
    response.json(await document());
  });
  router.get(['/docs', '/redoc'], async (_request, response) => {
    response.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
    response.type('html').send(renderPage(await document()));
  });
  return router;
}

function renderPage({ info, paths }: OpenApiDocument): string {
  const sections = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([method, operation]) =>
        `<h2>${method.toUpperCase()} ${escapeHtml(path)}</h2><p>${escapeHtml(operation.summary)}</p><details><summary>Schema</summary>` +
        `<pre>${escapeHtml(JSON.stringify(operation, null, 2))}</pre></details>`,
    ),
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(info.title)}</title><style>${style}</style></head>
<body><h1>${escapeHtml(info.title)} ${escapeHtml(info.version)}</h1><p>${escapeHtml(info.description)}</p>${sections.join('\n')}</body></html>`;
}
