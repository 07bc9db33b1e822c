import type { Document, JobEvent, SearchResults } from '../../../clients/typescript/index.ts';
import type { SearchMode } from '../../../contract/document-search.ts';

/** What the demo has done, for the screen or as JSON. */
export interface DemoResult {
  organizationId: string;
  /** Of the demo's user. */
  token: string;
  email: string;
  password: string;
  /** The path of its workspace in the console. */
  place: string;
  documents: (Document & { summary: string | null })[];
  jobs: JobEvent[];
  search: (SearchResults & { query: string; mode: SearchMode })[];
  creditsUsed: number;
  /** Whether nothing failed. */
  ok: boolean;
}

export type SearchResult = DemoResult['search'][number]['results'][number];
