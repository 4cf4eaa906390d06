package tlsca

import (
	"crypto/x509"
	"net"
	"slices"
	"strings"

	"minibus/internal/hostname"
)

// public lists top-level domains with public names. The authority's own certificate excludes them, so that a thief of
// the key can't sign such names. The certificate can't list permitted names instead: it would have to know the
// aliases of all future containers. The service's own names are under net, so net is not excluded.
var public = strings.Fields(`
	com org edu gov mil int info biz name pro mobi app dev cloud online site store shop tech xyz top club live page
	bank blog email work world today agency news digital services solutions network systems media group company ae
	ar at au be bg br ca ch cl cn co cz de dk ee es eu fi fr gr hk hr hu id ie il in io ir is it jp ke kr kz lt lu
	lv ma me mx my ng nl no nz pe ph pk pl pt ro rs ru sa se sg si sk th tr tv tw ua uk us uy ve vn za ai to gg ly
	cc sh fm
`)

// constrain writes into the certificate of a new authority which names it may sign: addresses of private networks,
// names outside the public domains, and the names given.
func constrain(cert *x509.Certificate, names []string) {
	for _, p := range hostname.Private {
		bits := p.Addr().BitLen()
		cert.PermittedIPRanges = append(cert.PermittedIPRanges,
			&net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), bits)})
	}
	excluded := slices.Clone(public)
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			if four := ip.To4(); four != nil {
				ip = four
			}
			cert.PermittedIPRanges = append(cert.PermittedIPRanges,
				&net.IPNet{IP: ip, Mask: net.CIDRMask(8*len(ip), 8*len(ip))})
			continue
		}
		top := strings.ToLower(name[strings.LastIndex(name, ".")+1:])
		excluded = slices.DeleteFunc(excluded, func(domain string) bool { return domain == top })
	}
	cert.ExcludedDNSDomains, cert.PermittedDNSDomainsCritical = excluded, true
}

// maySign reports whether the authority's certificate allows it to sign a name. Older authorities have no constraints
// and may sign any.
func (a *Authority) maySign(name string) bool {
	if ip := net.ParseIP(name); ip != nil {
		return len(a.cert.PermittedIPRanges) == 0 ||
			slices.ContainsFunc(a.cert.PermittedIPRanges, func(r *net.IPNet) bool { return r.Contains(ip) })
	}
	return !slices.ContainsFunc(a.cert.ExcludedDNSDomains, func(domain string) bool {
		return name == domain || strings.HasSuffix(name, "."+domain)
	})
}
