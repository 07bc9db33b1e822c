import { getRouteApi } from '@tanstack/react-router';
import { slugsOf } from '../queries.ts';
import { LinkTo } from './link-to.tsx';

const place = getRouteApi('/o/$organization/$workspace');

interface PassageLinkProps {
  documentId: string;
  documentName: string;
  /** From 1; null and undefined for documents without pages. */
  page?: number | null | undefined;
  /** Positions in the text of the document, in code points. */
  start?: number | null | undefined;
  end?: number | null | undefined;
  /** For those who do not see what the link stands beside. */
  label: string;
}

/** A link to a document, at the page of a passage, which is marked there. */
export function PassageLink({ documentId, documentName, page, start, end, label }: PassageLinkProps) {
  return (
    <LinkTo
      to="/o/$organization/$workspace/documents/$id"
      params={{ ...slugsOf(place.useRouteContext()), id: documentId }}
      search={{ page: page ?? undefined, start: start ?? undefined, end: end ?? undefined }}
      aria-label={label}
      fw={550}
      className="foreign"
    >
      {documentName}
    </LinkTo>
  );
}
