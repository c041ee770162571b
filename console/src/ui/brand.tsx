import { address } from '../router';
import { t } from '../text';

export const Brand = () => (
  <a class="brand" href={address('')} aria-label={t.name}>
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="var(--accent)" />
      <circle cx="16" cy="12.5" r="4.5" fill="none" stroke="var(--on-accent)" stroke-width="3" />
      <path d="M16 17v8m0-3h4" fill="none" stroke="var(--on-accent)" stroke-width="3" stroke-linecap="round" />
    </svg>
    <span class="brand-name">{t.name}</span>
  </a>
);
