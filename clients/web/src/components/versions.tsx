import { Table } from '@mantine/core';
import type { Document } from '@sheaf/client';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { named } from '../dropped-files.ts';
import { service } from '../service.ts';
import { useEndings } from '../taken-types.ts';
import { formatBytes, formatNumber, t } from '../text.ts';
import { startUploads } from '../uploads.ts';
import { Failure } from './failure.tsx';
import { Rows } from './rows.tsx';
import { Time } from './time.tsx';
import { Subtitle } from './titles.tsx';

const versionsQuery = ({ id, version }: Document) =>
  queryOptions({
    queryKey: ['document', id, 'versions', version],
    queryFn: ({ signal }) => service.documents.versions({ id }, { signal }),
  });

/** Takes a file as the new content of a document: a field that nobody sees, and what opens it. */
export function useNewVersion({ id, workspaceId }: Document) {
  const input = useRef<HTMLInputElement>(null);
  const endings = useEndings();
  const field = (
    <input
      ref={input}
      type="file"
      hidden
      accept={endings.all.map((ending) => `.${ending}`).join(',')}
      onChange={({ currentTarget }) => {
        startUploads({ workspaceId, files: Array.from(currentTarget.files ?? []).map(named), index: false, replaces: id });
        currentTarget.value = '';
      }}
    />
  );
  return { field, choose: () => input.current?.click() };
}

/** What a document was before, if it has been anything else. */
export function Versions({ document }: { document: Document }) {
  const { data, error, refetch } = useQuery({ ...versionsQuery(document), enabled: document.version > 1 });
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  if (!data || document.version === 1) return null;
  return (
    <section aria-label={t.document.versions}>
      <Subtitle>{t.document.versions}</Subtitle>
      <Rows heads={[t.document.version, { number: t.documents.size }, t.documents.added]}>
        {data.items.map(({ number, size, createdAt }) => (
          <Table.Tr key={number}>
            <Table.Td className="fills">{formatNumber(number)}</Table.Td>
            <Table.Td className="number">{formatBytes(size)}</Table.Td>
            <Table.Td>
              <Time at={createdAt} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Rows>
    </section>
  );
}
