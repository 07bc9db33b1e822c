import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure } from './failure.tsx';
import { Waiting } from './waiting.tsx';

/** What a query has found; until then that it is under way, or has failed. */
export function Loaded<T>({ query, children }: { query: UseQueryResult<T>; children: (data: T) => ReactNode }) {
  return (
    <>
      {query.isPending && <Waiting />}
      <Failure error={query.error} retry={() => void query.refetch()} />
      {query.data !== undefined && children(query.data)}
    </>
  );
}
