import { Text, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useState } from 'react';
import { adminPages, pagesFor } from '../navigation.ts';
import { slugsOf, workspacesQuery } from '../queries.ts';
import { t } from '../text.ts';
import { Dialog } from './dialog.tsx';

const route = getRouteApi('/o/$organization/$workspace');

/** Goes to a page or a workspace by a part of its name. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const [position, setPosition] = useState(0);
  const found = useTargets().filter(({ label }) => label.toLowerCase().includes(typed.trim().toLowerCase()));
  const chosen = Math.min(position, found.length - 1);
  const go = (target: Target | undefined) => {
    if (!target) return;
    onClose();
    void target.go();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') go(found[chosen]);
    else if (step) setPosition((chosen + step + found.length) % found.length);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={t.palette.title} onClose={onClose}>
      <TextInput
        role="combobox"
        aria-expanded
        aria-controls="palette"
        aria-activedescendant={found[chosen] && `palette-${chosen}`}
        aria-label={t.palette.hint}
        placeholder={t.palette.hint}
        value={typed}
        onChange={({ currentTarget: { value } }) => {
          setTyped(value);
          setPosition(0);
        }}
        onKeyDown={onKeyDown}
      />
      {found.length === 0 && <Text role="status">{t.palette.none}</Text>}
      <div id="palette" role="listbox" aria-label={t.palette.title} className="palette">
        {found.map((target, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys belong to the field above.
          // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field above.
          <div
            key={target.key}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === chosen}
            className="foreign"
            onClick={() => go(target)}
          >
            {target.label}
          </div>
        ))}
      </div>
    </Dialog>
  );
}

interface Target {
  key: string;
  label: string;
  go: () => Promise<void>;
}

function useTargets(): Target[] {
  const place = route.useRouteContext();
  const { organization, workspace } = place;
  const { data: workspaces = [workspace] } = useQuery(workspacesQuery(organization.id));
  const navigate = useNavigate();
  const pages = Object.values(pagesFor(place)).flat();
  const account = { label: t.nav.account, to: '/o/$organization/$workspace/account' as const };
  return [
    ...[...pages, account].map(({ label, to }) => ({
      key: to,
      label,
      go: () => navigate({ to, params: slugsOf({ organization, workspace }) }),
    })),
    ...(place.isPlatformAdmin ? adminPages() : []).map(({ label, to }) => ({ key: to, label, go: () => navigate({ to }) })),
    ...workspaces.map((each) => ({
      key: each.id,
      label: t.palette.workspace(each.name),
      go: () => navigate({ to: '/o/$organization/$workspace/documents', params: slugsOf({ organization, workspace: each }) }),
    })),
  ];
}
