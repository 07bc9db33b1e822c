import { version } from '../contract/index.ts';

/** The reference page; its scripts and styles are files, since its policy allows none inside. */
export const docsPage = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Sheaf API ${version}</title>
    <link rel="icon" type="image/png" href="/docs/${version}/favicon-32x32.png">
    <link rel="stylesheet" href="/docs/${version}/swagger-ui.css">
    <link rel="stylesheet" href="/docs/page.css">
  </head>
  <body>
    <main id="reference"><noscript>This page needs JavaScript. The description itself is at <a href="/api/v1/openapi.json">/api/v1/openapi.json</a>.</noscript></main>
    <script src="/docs/${version}/swagger-ui-bundle.js"></script>
    <script src="/docs/start.js"></script>
  </body>
</html>
`;

/** Starts Swagger UI. `validatorUrl: null` keeps it from sending the document to a validator elsewhere. */
export const docsScript = `SwaggerUIBundle({
  url: '/api/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

export const docsStyle = `body { margin: 0; }
`;
