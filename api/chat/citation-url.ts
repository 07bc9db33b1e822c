import type { Answer } from '../../domain/answers/answer.ts';
import { readWorkspaceSlugs } from '../../domain/workspaces/workspace.ts';
import type { ApiDeps } from '../deps.ts';

type Citation = Answer['sentences'][number]['citations'][number];

/**
 * Where a reader finds a citation of a workspace: marked in the console; the text of its page where the API serves no console, or if the
 * workspace cannot be read. Never rejects, as the answer has been paid.
 */
export async function citationUrl({ config, db, log }: ApiDeps, workspaceId: string): Promise<(citation: Citation) => string> {
  const { apiUrl, console } = config;
  const withPage = (page: number | null, path: string) => (page === null ? path : `${path}${path.includes('?') ? '&' : '?'}page=${page}`);
  const noted = (err: unknown) => log.warn({ err }, 'the citations of an answer lead to texts: its workspace could not be read');
  const slugs = console.enabled ? await readWorkspaceSlugs(db, workspaceId).catch(noted) : undefined;
  if (!slugs) return ({ documentId, page }) => withPage(page, `${apiUrl}/api/v1/documents/${documentId}/text`);
  const place = [slugs.organization, slugs.workspace].map(encodeURIComponent).join('/');
  return ({ documentId, page, start, end }) => withPage(page, `${apiUrl}/o/${place}/documents/${documentId}?start=${start}&end=${end}`);
}
