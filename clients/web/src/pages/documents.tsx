import { Button, Group, Table, Text } from '@mantine/core';
import type { Document } from '@sheaf/client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { memo, useState } from 'react';
import { DeleteDocument } from '../components/delete-document.tsx';
import { type DocumentFilter, DocumentFilterFields, typeOf } from '../components/document-filter.tsx';
import { DropArea } from '../components/drop-area.tsx';
import { Empty } from '../components/empty.tsx';
import { Failure } from '../components/failure.tsx';
import { Filter } from '../components/filter.tsx';
import { Tags } from '../components/labels.tsx';
import { LinkTo } from '../components/link-to.tsx';
import { PageHead } from '../components/page-head.tsx';
import { StateMark } from '../components/state-mark.tsx';
import { Time } from '../components/time.tsx';
import { UploadList } from '../components/upload-list.tsx';
import { Waiting } from '../components/waiting.tsx';
import { documentsQuery } from '../document-queries.ts';
import { type Place, slugsOf } from '../queries.ts';
import { formatBytes, t } from '../text.ts';

const route = getRouteApi('/o/$organization/$workspace/documents');

export default function Documents() {
  const { workspace } = route.useRouteContext();
  return (
    <>
      <PageHead title={t.documents.title} />
      {/* A folder is read for a while. What is dropped belongs to the workspace of that moment, whichever is chosen meanwhile. */}
      <DropArea key={workspace.id} workspaceId={workspace.id} />
      <UploadList workspaceId={workspace.id} />
      <List />
    </>
  );
}

function List() {
  const place = route.useRouteContext();
  const { status, tags, type } = route.useSearch();
  const contentType = typeOf(type);
  const filter = { ...(status ? { status } : {}), ...(tags ? { tag: tags } : {}), ...(contentType ? { contentType } : {}) };
  const documents = useInfiniteQuery(documentsQuery(place, filter));
  const navigate = useNavigate({ from: '/o/$organization/$workspace/documents' });
  const narrow = (next: DocumentFilter) => void navigate({ search: (before) => ({ ...before, ...next }), replace: true });
  const pages = documents.data?.pages ?? [];
  const items = pages.flatMap((page) => page.items);
  const storage = pages[0]?.storage;
  return (
    <>
      <Group justify="space-between" mb="sm" gap="sm">
        <StatusFilter status={status} />
        {storage && (
          <Text size="sm" c="dimmed">
            {storage.limitBytes === null
              ? t.documents.used(formatBytes(storage.usedBytes))
              : t.documents.usedOf(formatBytes(storage.usedBytes), formatBytes(storage.limitBytes))}
          </Text>
        )}
      </Group>
      <DocumentFilterFields tags={tags} type={type} onChange={narrow} />
      <Failure error={documents.error} retry={() => void documents.refetch()} />
      {documents.isPending && <Waiting />}
      {documents.isSuccess && items.length === 0 && <Nothing isFiltered={Object.keys(filter).length > 0} />}
      {items.length > 0 && <DocumentTable pages={pages} />}
      {documents.hasNextPage && (
        <Button variant="default" mt="md" loading={documents.isFetchingNextPage} onClick={() => void documents.fetchNextPage()}>
          {t.common.more}
        </Button>
      )}
    </>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  return isFiltered ? <Empty text={t.documents.emptyFiltered} /> : <Empty title={t.documents.emptyTitle} text={t.documents.empty} />;
}

type Status = Document['status'];

function StatusFilter({ status }: { status: Status | undefined }) {
  const navigate = useNavigate({ from: '/o/$organization/$workspace/documents' });
  const onChange = (next: Status | undefined) => void navigate({ search: (before) => ({ ...before, status: next }), replace: true });
  return <Filter label={t.documents.filterLabel} values={t.documents.filter} value={status} onChange={onChange} />;
}

function DocumentTable({ pages }: { pages: { items: Document[] }[] }) {
  const [doomed, setDoomed] = useState<Document>();
  const place = route.useRouteContext();
  return (
    <>
      <Table verticalSpacing="sm" className="cards long-table">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t.documents.name}</Table.Th>
            <Table.Th>{t.documents.status}</Table.Th>
            <Table.Th className="number">{t.documents.size}</Table.Th>
            <Table.Th>{t.documents.added}</Table.Th>
            <Table.Th className="number">{t.common.actions}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        {pages.map(({ items }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a page stays the one at its position, whatever documents move into it.
          <DocumentPage key={index} items={items} place={place} onDelete={setDoomed} />
        ))}
      </Table>
      {doomed && <DeleteDocument document={doomed} onClose={() => setDoomed(undefined)} />}
    </>
  );
}

interface Shown {
  place: Place;
  onDelete(document: Document): void;
}

/** The rows of a page of the list, which the browser skips while they are out of sight (main.css). */
const DocumentPage = memo(function DocumentPage({ items, ...shown }: Shown & { items: Document[] }) {
  return (
    <Table.Tbody>
      {items.map((document) => (
        <DocumentRow key={document.id} document={document} {...shown} />
      ))}
    </Table.Tbody>
  );
});

/** Of a thousand rows only those that changed are drawn again. */
const DocumentRow = memo(function DocumentRow({ document, place, onDelete }: Shown & { document: Document }) {
  return (
    <Table.Tr>
      <Table.Td>
        <LinkTo
          to="/o/$organization/$workspace/documents/$id"
          params={{ ...slugsOf(place), id: document.id }}
          size="sm"
          className="foreign"
        >
          {document.name}
        </LinkTo>
        {document.tags.length > 0 && (
          <Group gap={6} mt={4}>
            <Tags tags={document.tags} />
          </Group>
        )}
      </Table.Td>
      <Table.Td>
        <DocumentState document={document} />
      </Table.Td>
      <Table.Td className="number">{formatBytes(document.size)}</Table.Td>
      <Table.Td>
        <Time at={document.createdAt} />
      </Table.Td>
      <Table.Td className="number">
        <Button size="compact-sm" variant="default" aria-label={t.documents.deleteOne(document.name)} onClick={() => onDelete(document)}>
          {t.common.delete}
        </Button>
      </Table.Td>
    </Table.Tr>
  );
});

function DocumentState({ document: { status, extracted, indexedAt, failedJob } }: { document: Document }) {
  const states = t.documents.states;
  if (status === 'pending') return <StateMark tone="busy">{states.pending}</StateMark>;
  if (failedJob)
    return (
      <>
        <StateMark tone="bad">{states.failed}</StateMark>
        {failedJob.error && (
          <Text size="xs" className="foreign">
            {failedJob.error.message}
          </Text>
        )}
      </>
    );
  if (indexedAt) return <StateMark tone="good">{states.searchable}</StateMark>;
  return <StateMark tone="quiet">{extracted ? states.read : states.stored}</StateMark>;
}
