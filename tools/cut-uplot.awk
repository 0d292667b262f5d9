# SPDX-License-Identifier: BSD-2-Clause
# Writes uPlot's script or style without what no page of a report uses: bars, splines, dates, logarithmic scales and
# its own legend. The vendored files stay as they were published. Each cut has a begin, an end that is kept, and what
# stands in its place; one that is not found once is an error: then uPlot has changed, and this file must follow.
#
# Usage: awk -f tools/cut-uplot.awk third_party/uplot/uPlot.iife.min.js

function fail(what) {
	print "tools/cut-uplot.awk: " FILENAME " does not have once: " what >"/dev/stderr"
	failed = 1
	exit 1
}

function cut(from, to, instead,    start, rest, end) {
	start = index(text, from)
	rest = substr(text, start + length(from))
	end = index(rest, to)
	if (!start || !end || index(rest, from)) fail(from)
	text = substr(text, 1, start - 1) instead substr(rest, end)
}

function cut_script() {
	cut(",l.bars=function(l){", "}return en}();", "")
	cut("function Rt(l,e,t,n,i,o,s=gl)", "const It=new Set", "")
	# dates
	cut(",ql=[\"January\"", ",oe=l=>l%1==0", "")
	cut(",ce=\"{YYYY}\"", "Cl(2,-53,53,[1])", ";")
	cut("Xl=u.tzDate||", ",Zl=", "Xl=0")
	cut(",Zl=u.fmtDate||ne", ",te=[],ie=k.legend", "")
	cut("t.value=l?Ll(e)?We(Xl,Ae(e,Zl)):e||ee:", "e||nt", "t.value=")
	cut("(2==t.distr?ae:n?1==hl?ke:Se:fe)", ")", "fe")
	cut("n?Gl(i)?De(Xl,ze(i,Zl))", "i||Be", "")
	cut(",en.fmtDate=ne", ",en.sync=dt", "")
	# logarithmic scales
	cut("(n&&1==t.distr?Ql:3==t.distr?Je:4==t.distr?qe:$e)", ")", "$e")
	cut("(3>t.distr||10!=t.log?3==t.distr&&2==t.log?tt:kl:et)", ")", "kl")
	cut("function B(l,e,t,n){", "const J=.1", "")
	cut("function Je(l,e,t,n,i)", "function nt(", "")
	cut("(n?Bt:l==El?3==e.distr?qt:4==e.distr?Xt:Vt:3==e.distr?Jt:4==e.distr?Kt:$t)", ")", "(l==El?Vt:$t)")
	cut("const Bt=Vt;", "function $t(", "")
	cut("function Jt(l,e,t,n)", "function Zt(", "")
	# series and bands that come and go
	cut("k.addSeries=function(l,e)", "const Ct=[!1", "")
	cut(",k.addBand=function(l,e)", "const ai={focus", ";")
	# the legend
	cut("if(se)if(ce=z(\"table\"", "const be={show:!0}", "")
	cut("if(se){let i=function(t,n)", "if(re){te.splice(n,0,null)", "")
	cut("const Ye={show:!0,live:!0", "Ce=[0,0]", "const ")
	cut(",ie=k.legend=Bl({},Ye,u.legend)", ",oe=k.cursor=", "")
	cut("ie.show&&ie.live&&_t&&(mi(),_t=!1),", "F||(F=!0", "")
	cut("ie.live&&(te.fill(n),_t=!0)", "}else{let l,e,t;1==M", "te.fill(n),_t=!0")
	cut(",se&&me[l]&&(me[l].style.opacity=e)", "}(i,o", "")
	cut("if(pl[e].show)se&&T(me[e],l);else if(se&&S(me[e],l),re){", "let l=zt", "if(!pl[e].show&&re){")
	cut("se&&Et&&Ce(p,ce,", "k.valToIdx=", "")
	cut("ce?.remove(),", "Ci(\"destroy\")", "")
	cut(",se=ie.show", ",re=oe.show", "")
	cut(",ue=ie.markers;", "const be={show:!0}", ";")
	cut("function mi(l,e){", "function xi(l,e,t)", "")
	cut("_t&&(ie.idx=n,mi()),", "!1!==e&&Ci(\"setCursor\")", "")
	cut("k.setLegend=mi;", "let wi=null", "")
	# names for others
	cut("function Ll(l)", "function Ol(l)", "")
	cut("en.assign=Bl,", "en.join=function", "")
	cut("en.addGap=function", "let l=en.paths", "")
}

function cut_style() {
	cut(".u-legend {", ".u-select {", "")
}

{ text = text $0 "\n" }

END {
	if (failed) exit 1
	if (FILENAME ~ /\.css$/) cut_style()
	else cut_script()
	printf "%s", text
}
