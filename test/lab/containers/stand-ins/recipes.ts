import { makeNginx } from './nginx.ts';
import { makeNode } from './node.ts';
import { makePostgres } from './postgres.ts';
import type { Recipe } from './recipe.ts';
import { makeTemporalServer, makeTemporalTools } from './temporal.ts';
import { makeTemporalUi } from './temporal-ui.ts';
import { makeVersitygw } from './versitygw.ts';

/** The stand-ins by the names of the images that they stand in for. */
export const recipes: Record<string, Recipe> = {
  'node:24-bookworm-slim': makeNode,
  'nginx:1.30-alpine': makeNginx,
  'pgvector/pgvector:pg18': makePostgres,
  'temporalio/server:1.31.2': makeTemporalServer('1.31.2'),
  'temporalio/admin-tools:1.31.2': makeTemporalTools('1.31.2'),
  // Go's checksum database does not know every version of its module; this is the one that Temporal's CLI contains.
  'temporalio/ui:2.49.1': makeTemporalUi('2.42.1'),
  'versity/versitygw:v1.8.0': makeVersitygw('v1.8.0'),
};
