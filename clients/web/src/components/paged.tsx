import { Button } from '@mantine/core';
import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { t } from '../text.ts';
import { Failure } from './failure.tsx';
import { Waiting } from './waiting.tsx';

interface PagedProps {
  query: UseInfiniteQueryResult;
  /** What stands there if it has found nothing. */
  empty: ReactNode;
  isEmpty: boolean;
  children: ReactNode;
}

/** A list that comes a page at a time: under way, failed, empty, or as far as it was shown. */
export function Paged({ query, empty, isEmpty, children }: PagedProps) {
  return (
    <>
      {query.isPending && <Waiting />}
      <Failure error={query.error} retry={() => void query.refetch()} />
      {query.isSuccess && isEmpty && empty}
      {!isEmpty && children}
      {query.hasNextPage && (
        <Button variant="default" mt="md" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          {t.common.more}
        </Button>
      )}
    </>
  );
}
