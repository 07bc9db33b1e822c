import { Button, Group, NativeSelect } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { t } from '../text.ts';

/** Goes through the pages of a document, or to one of them, by the address of its page. */
export function PageChoice({ page, pages }: { page: number; pages: number }) {
  const navigate = useNavigate({ from: '/o/$organization/$workspace/documents/$id' });
  const go = (next: number) => void navigate({ search: (before) => ({ ...before, page: next }), replace: true });
  return (
    <Group component="nav" aria-label={t.document.pageNavigation} gap="sm">
      <Button size="compact-sm" variant="default" disabled={page <= 1} aria-label={t.document.previous} onClick={() => go(page - 1)}>
        ‹
      </Button>
      <NativeSelect
        size="xs"
        aria-label={t.document.pageNavigation}
        data={Array.from({ length: pages }, (_, index) => {
          const label = t.common.of(t.document.page(index + 1), String(pages));
          return { value: String(index + 1), label };
        })}
        value={String(page)}
        onChange={({ currentTarget: { value } }) => go(Number(value))}
      />
      <Button size="compact-sm" variant="default" disabled={page >= pages} aria-label={t.document.next} onClick={() => go(page + 1)}>
        ›
      </Button>
    </Group>
  );
}
