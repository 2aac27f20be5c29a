import { color, text, url } from './definitions.ts';

export const brandingDefinitions = {
  product_name: text({
    group: 'Branding',
    default: 'Latchkey',
    min: 1,
    max: 60,
    description: 'The name on the pages and in mails.',
  }),
  logo_url: url({
    group: 'Branding',
    default: '',
    description:
      'No longer shown: pages load nothing from elsewhere. Upload the logo on the page Branding instead.',
  }),
  accent_color: color({
    group: 'Branding',
    default: '#1f6f5c',
    description: 'The colour of buttons and links, where the page Branding has none.',
  }),
  support_url: url({ group: 'Branding', default: '', description: 'Where people find help.' }),
  privacy_url: url({ group: 'Branding', default: '', description: 'The privacy notice.' }),
  terms_url: url({ group: 'Branding', default: '', description: 'The terms of service.' }),
} as const;
