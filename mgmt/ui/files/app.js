var w,Un,Yt,ye,Zt,kt,Hn,yt,Kn,en,Xt,pi,et=Symbol.for("pv"),wt={},xt=[],fi=/^m(i|n|o|s|text|space)$/,tn=Array.isArray,nn=xt.slice,Le=Object.assign;function Pe(e){e&&e.parentNode&&e.remove()}function zn(e,t,o){
var i,s,r,l={},a=arguments.length;for(r in t)r=="key"?i=t[r]:r=="ref"&&typeof e!="function"?s=t[r]:l[r]=t[r];return a>2&&(l.children=a>3?nn.call(arguments,2):o),Ye(e,l,i,s,null)}function Ye(e,t,o,i,s){var r={type:e,props:t,key:o,ref:i,__k:null,__:null,__b:0,__e:null,__c:null,constructor:et,__v:s||++Un,__i:-1,__u:0};return!s&&w.vnode&&w.vnode(r),r}function m(e){return e.children}function qe(e,t){this.props=e,this.context=t,this.__g=0}function be(e,t){if(t==null)return e.__&&be(e.__,e.__i+1);for(var o;t<e.__k.length;t++)if((o=e.__k[t])&&o.__e)return o.
__e;return typeof e.type!="function"||e.props.__P?null:be(e)}function mi(e){var t,o=e.__v,i=o.__e,s=[],r=[],l=e.__P;l&&((t=Le({constructor:et},o)).__v=o.__v+1,w.vnode&&w.vnode(t),on(l,t,o,e.__n,l.namespaceURI,
32&o.__u?[i]:null,s,i||be(o),32&o.__u,r),t.__v=o.__v,t.__.__k[t.__i]=t,Vn(s,t,r),o.__=o.__e=null,t.__e!=i&&Wn(t))}function Wn(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){
return t&&(e.__e=t.__e)}),Wn(e)}function Rn(e){(8&e.__g||(e.__g|=8,ye.push(e),kt++))&&Zt==w.debounceRendering||((Zt=w.debounceRendering)||queueMicrotask)(Jn)}function Jn(){try{for(var e,t=1;ye.length;)
ye.length>t&&ye.sort(Hn),e=ye.shift(),t=ye.length,8&e.__g&&mi(e)}finally{(kt=ye.length)&&(Zt||queueMicrotask)(Jn)}}function jn(e,t,o,i,s,r,l,a,p,d,u){var f,_,c,v,E,x,S=i.__k||xt,y=t.length;for(p=hi(o,
t,S,p,y),f=0;f<y;f++)(c=o.__k[f])!=null&&(_=~c.__i&&S[c.__i]||wt,c.__i=f,x=on(e,c,_,s,r,l,a,p,d,u),v=c.__e,(_.ref!=c.ref||8&_.__u)&&(_.ref&&sn(_.ref,null,c,_),c.ref&&u.push(c.ref,c.__c||v,c)),E=E||v,4&
c.__u?(p=Gn(c,p,e,!_.__v),_.__e&&(_.__e=null)):typeof c.type=="function"&&x!==void 0?p=x:v&&(p=v.nextSibling),c.__u&=-21);return o.__e=E,p}function hi(e,t,o,i,s){var r,l,a,p,d,u,f,_,c,v=o.length,E=v,x=0,
S=0,y=e.__k=Array(s);for(r=0;r<s;r++)(l=t[r])!=null&&typeof l!="boolean"&&typeof l!="function"?(typeof l!="object"||l.constructor===String?l=y[r]=Ye(null,l):tn(l)?l=y[r]=Ye(m,{children:l}):l.constructor===
et&&l.__b?l=y[r]=Ye(l.type,l.props,l.key,l.ref,l.__v):y[r]=l,p=r+x,l.__=e,l.__b=e.__b+1,a=null,~(d=l.__i=vi(l,o,p,E))&&(E--,(a=o[d])&&(a.__u|=2)),a&&a.__v?(l.__u|=16,d==p-1?x--:d==p+1?x++:d!=p&&(d>p?x--:
x++,S=1)):(~d||(s>v?x--:s<v&&x++),typeof l.type!="function"&&(l.__u|=4))):y[r]=null;if(S){for(u=[],f=[],r=0;r<s;r++)if((l=y[r])&&16&l.__u){for(x=0,_=u.length;x<_;)u[c=x+_>>1]<l.__i?x=c+1:_=c;u[x]=l.__i,
f[r]=x+1}for(x=u.length;r--;)f[r]&&(f[r]==x?x--:y[r].__u|=4)}if(E)for(r=0;r<v;r++)!(a=o[r])||2&a.__u||(a.__e==i&&(i=be(a)),rn(a,a));return i}function Gn(e,t,o,i){var s,r,l,a;if(typeof e.type=="functio\
n"){if(e.props.__P)return t;if(s=e.__k)for(r=0;r<s.length;r++)s[r]&&(s[r].__=e,t=Gn(s[r],t,o,!1));return t}for(t&&!t.parentNode&&(t=be(e))&&!t.parentNode&&(t=null),l=e.__e,a=t;a&&a.nodeType==8;)a=a.nextSibling;
for(l!=a&&(!i&&o.moveBefore&&l.parentNode?o.moveBefore(l,t):o.insertBefore(l,t||null)),t=l;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function vi(e,t,o,i){var s,r=e.key,l=e.type,a=t[o],p=a&&!(2&a.__u);if(a===null&&r==null||p&&r==a.key&&l==a.type)return o;if(i>(p?1:0)){for(s=o-1;s>=0;s--)if((a=t[s])&&!(2&a.__u)&&r==a.key&&l==a.type)return s;
for(s=o+1;s<t.length;s++)if((a=t[s])&&!(2&a.__u)&&r==a.key&&l==a.type)return s}return-1}function qn(e,t,o){o==null&&(o=""),t[0]=="-"?e.setProperty(t,o):e[t]=o}function _t(e,t,o,i,s){var r,l;if(t=="sty\
le")if(typeof o=="string")e.style.cssText=o;else{if(typeof i=="string"&&(e.style.cssText=i=""),i)for(t in i)o&&t in o||qn(e.style,t);if(o)for(t in o)i&&o[t]==i[t]||qn(e.style,t,o[t])}else if(t[0]=="o"&&
t[1]=="n")typeof o!="function"&&(o=null),typeof i!="function"&&(i=null),(e.__e||(e.__e={}))[t]=o,o&&i||(l=Xt[t]||(Xt[t]=gi(t)),(e.__a||(e.__a={}))[t]=en,r=t!=(t=t.replace(Kn,"$1")),(t=t.slice(2))[0]<"\
a"&&(t=t.toLowerCase()),o?e.addEventListener(t,l,r):e.removeEventListener(t,l,r));else{if(s=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="h\
eight"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=o??"")}catch{}if(typeof o=="function")return;o==
null||o===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&o==1?"":o)}}function gi(e){return function(t){var o=this.__e;if(o){if(o=o[e],t[yt]==null)t[yt]=en++;else if(t[yt]<this.__a[e])
return;return o(w.event?w.event(t):t)}}}function on(e,t,o,i,s,r,l,a,p,d){var u,f,_,c,v,E,x,S,y,I,O,Xe,Fn,gt,Ee,In,_e,$e,pe=t.type;if(t.constructor!==et)return null;128&o.__u&&(p=32&o.__u,u=o.__c.__z)&&
(t.__u|=p,f=r=[],u.nodeType==8?a=bt(u,r):r.push(u),a=r[0]||a),(u=w.__b)&&u(t);e:if(typeof pe=="function"){_=l.length;try{if(S=t.props,y=(u=pe.prototype)&&u.render,I=(u=pe.contextType)&&i[u.__c],O=u?I?
I.props.value:u.__:i,(c=o.__c)?(t.__c=c,2&c.__g&&(c.__g|=1)):(y?t.__c=c=new pe(S,O):(t.__c=c=new qe(S,O),c.constructor=pe,c.render=yi),I&&I.sub(c),c.state||(c.state={}),c.__n=i,c.__g|=8,c.__h=[],c.__k=
[]),y&&(c.__s||(c.__s=c.state),pe.getDerivedStateFromProps&&(c.__s==c.state&&(c.__s=Le({},c.__s)),Le(c.__s,pe.getDerivedStateFromProps(S,c.__s)))),v=c.props,E=c.state,c.__v=t,o.__c){if(S!==v&&y&&!pe.getDerivedStateFromProps&&
c.componentWillReceiveProps&&c.componentWillReceiveProps(S,O),t.__v==o.__v&&!(8&c.__g)||!(4&c.__g)&&c.shouldComponentUpdate&&c.shouldComponentUpdate(S,c.__s,O)===!1){t.__v!=o.__v&&(c.props=S,c.state=c.
__s,c.__g&=-9),t.__e=o.__e,t.__k=o.__k,t.__k.some(function(Y){Y&&(Y.__=t)}),xt.push.apply(c.__h,c.__k),c.__k=[],c.__h.length&&l.push(c),a=be(o);break e}c.componentWillUpdate&&c.componentWillUpdate(S,c.
__s,O),y&&c.componentDidUpdate&&c.__h.push(function(){c.componentDidUpdate(v,E,x)})}else y&&!pe.getDerivedStateFromProps&&c.componentWillMount&&c.componentWillMount(),y&&c.componentDidMount&&c.__h.push(
c.componentDidMount);c.context=O,c.props=S,c.__P=e,c.__g&=-5,Xe=w.__r,Fn=y?25:0;do c.__g&=-9,Xe&&Xe(t),u=c.render(c.props,c.state=c.__s,c.context);while(8&c.__g&&++Fn<25);y&&(xt.push.apply(c.__h,c.__k),
c.__k=[]),c.state=c.__s,c.getChildContext&&(i=Le({},i,c.getChildContext())),y&&o.__c&&c.getSnapshotBeforeUpdate&&(x=c.getSnapshotBeforeUpdate(v,E)),gt=u&&u.type===m&&u.key==null?u.props.children:u,S.__P&&
(u=a,s=(e=S.__P).namespaceURI,p=r=null,o.props&&o.props.__P!=e&&(o.__k.some(function(Y){Y&&rn(Y,Y)}),o.__k=null),a=o.__k?be(o,0):null),a=jn(e,tn(gt)?gt:[gt],t,o,i,s,r,l,a,p,d),S.__P&&(t.__e=null,a=u),
t.__u&=-161,f&&f.some(Pe),c.__h.length&&l.push(c),1&c.__g&&(c.__g&=-4)}catch(Y){if(l.length=_,t.__v=null,p||r)if(Y&&Y.then){if(t.__u|=128|p,r){for(~(_e=r.indexOf(a||void 0))||(_e=r.length);($e=r[_e-1])&&
$e.nodeType==8;)_e--;for(;_e<r.length;_e++)if($e=r[_e])if(r[_e]=null,Ee){if($e==In)break}else{if($e.nodeType!=8)break;$e.data.startsWith("$s")&&(In=bt(Ee=$e))}}if(!Ee){for(;a&&a.nodeType==8&&a.nextSibling;)
a=a.nextSibling;Ee=a}(u=bt(Ee=t.__c.__z||(t.__c.__z=Ee)))?(t.__e=Ee,a=u):t.__e=a,a=a&&a.nextSibling}else r&&r.some(Pe);else t.__e=o.__e;t.__k||(t.__k=o.__k||[]),Y&&Y.then||Qn(t),w.__e(Y,t,o)}}else a=t.
__e=_i(o.__e,t,o,i,s,r,l,p,d,e);return(u=w.diffed)&&u(t),a}function bt(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var o=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))o++;else if(e.
data.startsWith("/$s")&&!--o)return e}t&&t.push(e)}}function Qn(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(Qn))}function Vn(e,t,o){for(var i=0;i<o.length;)sn(o[i++],o[i++],o[i++]);w.__c&&w.__c(t,e),
e.some(function(s){try{e=s.__h,s.__h=[],e.some(function(r){r.call(s)})}catch(r){w.__e(r,s.__v)}})}function _i(e,t,o,i,s,r,l,a,p,d){var u,f,_,c,v,E,x,S,y=o.props||wt,I=t.props,O=t.type;if(O=="svg"?s="h\
ttp://www.w3.org/2000/svg":O=="math"?s="http://www.w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),r){for(u=0;u<r.length;u++)if((v=r[u])&&(O?v.localName==O:v.nodeType==3)){e=v,r[u]=null;
break}}if(!e){if(S=d.ownerDocument||document,!O)return S.createTextNode(I);e=S.createElementNS(s,O,I.is?I:d),a&&(w.__m&&w.__m(t,r),a=!1),r=null}if(O){if(d=O=="template"&&e.content||e,r=O=="textarea"&&
I.defaultValue!=null?null:r&&nn.call(d.childNodes),!a&&r)for(y={},u=0;u<e.attributes.length;u++)y[(v=e.attributes[u]).name]=v.value;for(u in y)v=y[u],u=="dangerouslySetInnerHTML"?_=v:u=="children"||u in
I||u=="value"&&"defaultValue"in I||u=="checked"&&"defaultChecked"in I||_t(e,u,null,v,s);for(u in I)v=I[u],u=="children"?c=v:u=="dangerouslySetInnerHTML"?f=v:u=="value"?E=v:u=="checked"?x=v:a&&typeof v!=
"function"||y[u]===v||_t(e,u,v,y[u],s);f?(a||_&&(f.__html==_.__html||f.__html==e.innerHTML)||(e.innerHTML=f.__html),t.__k=[]):(_&&(e.textContent=""),(O=="foreignObject"||s=="http://www.w3.org/1998/Mat\
h/MathML"&&fi.test(O))&&(s="http://www.w3.org/1999/xhtml"),jn(d,tn(c)?c:[c],t,o,i,s,r,l,r?r[0]:o.__k&&be(o,0),a,p),r&&r.some(Pe)),a&&O!="textarea"||(u="value",O=="progress"&&E==null?e.removeAttribute(
u):E==null||E===e[u]&&(O!="progress"||E)||_t(e,u,E,y[u],s),u="checked",x!=null&&x!=e[u]&&_t(e,u,x,y[u],s))}else y===I||a&&e.data==I||(e.data=I);return e}function sn(e,t,o,i){try{typeof e=="function"?t?
t.__x=e(t)||1:i&&(i=i.__c||i.__e)&&(t=i.__x)&&(i.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(s){w.__e(s,o)}}function rn(e,t,o){var i,s,r,l;if(w.unmount&&w.unmount(e),!(i=e.ref)||i.current&&
i.current!=e.__e||sn(i,null,t,e),i=e.__c){if(i.componentWillUnmount)try{i.componentWillUnmount()}catch(a){w.__e(a,t)}i.__P=i.__n=null}if(i=e.__k)for(l=0;l<i.length;l++)i[l]&&rn(i[l],t,typeof e.type!="\
function"||o&&!e.props.__P);!o&&(i=e.__c)&&(i=i.__z)&&(s=bt(i,r=[]))&&(i==e.__e&&r.some(Pe),Pe(s),Pe(i)),o||Pe(e.__e),e.__e=e.__c=e.__=null}function yi(e,t,o){return this.constructor(e,o)}function Zn(e,t){
var o,i,s,r;w.__&&w.__(e,t),t.nodeType==9&&(t=t.documentElement),i=(o=e&&32&e.__u)?null:t.__k,t.__k=Ye(m,{children:[e]}),s=[],r=[],on(t,t.__k,i||wt,wt,t.namespaceURI,i?null:t.firstChild?nn.call(t.childNodes):
null,s,i?i.__e:t.firstChild,o,r),Vn(s,t.__k,r),t.__k.props.children=null}w={__e:function(e,t,o,i){for(var s,r,l;t=t.__;)if((s=t.__c)&&!(1&s.__g)){s.__g|=4;try{if((l=(r=s.constructor)&&r.getDerivedStateFromError)&&s.setState(r.getDerivedStateFromError(e)),s.componentDidCatch&&
(s.componentDidCatch(e,i||{}),l=1),l&&8&s.__g)return void(s.__g|=2)}catch(a){e=a}}throw kt=0,e}},Un=0,Yt=function(e){return e!=null&&e.constructor===et},qe.prototype.setState=function(e,t){var o=this.
__s;o&&o!=this.state||(o=this.__s=Le({},this.state)),typeof e=="function"&&(e=e(Le({},o),this.props)),e&&(Le(o,e),this.__v&&(t&&this.__k.push(t),Rn(this)))},qe.prototype.forceUpdate=function(e){this.__v&&
(this.__g|=4,e&&this.__h.push(e),Rn(this))},qe.prototype.render=m,ye=[],kt=0,Hn=function(e,t){return e.__v.__b-t.__v.__b},yt=Symbol(),Kn=/(PointerCapture)$|Capture$/i,en=0,Xt={},pi=0;var Ue,q,an,Xn,ln=Object.is,nt=0,ao=[],cn=[],R=w,Yn=R.__b,eo=R.__r,to=R.diffed,no=R.__c,oo=R.unmount,io=R.__;function St(e,t){R.__h&&R.__h(q,e,nt||t),nt=0;var o=q.__H||(q.__H={__:[],__h:[]});return e>=
o.__.length&&o.__.push({}),o.__[e]}function $(e){return nt=1,bi(uo,e)}function bi(e,t,o){var i=St(Ue++,2);if(i.t=e,!i.__c&&(i.__=[o?o(t):uo(void 0,t),function(r){var l=(i.__N||i.__)[0],a=i.t(l,r);ln(l,
a)||(i.__N=[a,i.__[1]],i.__c.setState({}))}],i.__c=q,!q.__f)){q.__f=!0;var s=q.shouldComponentUpdate;q.shouldComponentUpdate=function(r,l,a){var p=this.__H;if(!p)return!0;var d=!1,u=this.props!=r;if(p.
__.some(function(_){_.__N&&(d=!0,ln(_.__[0],_.__N[0])||(u=!0))}),s){var f=s.call(this,r,l,a);return d?f||u:f}return!d||u}}return i.__}function fe(e,t){var o=St(Ue++,3);!R.__s&&dn(o.__H,t)&&(o.__P=!0,o.
__=e,o.u=t,q.__H.__h.push(o))}function lo(e,t){var o=St(Ue++,4);!R.__s&&dn(o.__H,t)&&(o.__P=!1,o.__=e,o.u=t,q.__h.push(o))}function ne(e){return nt=5,Ne(function(){return{current:e}},[])}function Ne(e,t){var o=St(Ue++,7);return dn(o.__H,t)&&(o.__=e(),o.__H=t),o.__}function co(e,t){return nt=8,Ne(function(){return e},t)}function ki(){var e;do{for(;e=cn.shift();)try{tt(e)}catch(o){R.__e(o,{__:(e=e.__P)&&e.__v})}for(;e=ao.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(tt),t.__h.some(un),t.__h=[]}catch(o){t.__h=[],R.__e(
o,e.__v)}}}while(cn.length)}R.__b=function(e){q=null,Yn&&Yn(e)},R.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),io&&io(e,t)},R.__r=function(e){eo&&eo(e),Ue=0;var t=(q=e.__c).__H;t&&(an==q?q.
__h=[]:(t.__h.some(tt),t.__h.some(un),Ue=0),t.__h=[],t.__.some(function(o){o.__N&&(o.__=o.__N),o.u=o.__N=void 0})),an=q},R.diffed=function(e){to&&to(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&ro(ao.push(
t)),t.__H.__.some(function(o){o.u&&(o.__H=o.u)})),an=q=null},R.__c=function(e,t){t.some(function(o){try{o.__h.some(tt),o.__h=o.__h.filter(function(i){return!i.__||un(i)})}catch(i){o.__h=[function(){throw i}]}}),
no&&no(e,t)},R.unmount=function(e){oo&&oo(e);var t,o,i=e.__c;i&&i.__H&&(i.__H.__.some(function(s){try{if(s.__P&&s.__c){if(o===void 0){for(o=e.__;o&&(!o.__c||!o.__c.__P);)o=o.__;o=o&&o.__c}s.__P=o,ro(cn.
push(s))}else tt(s)}catch(r){t=r}}),i.__H=void 0,t&&R.__e(t,i.__v))};var so=typeof requestAnimationFrame=="function";function wi(e){var t,o=function(){clearTimeout(i),so&&cancelAnimationFrame(t),setTimeout(
e)},i=setTimeout(o,35);so&&(t=requestAnimationFrame(o))}function ro(e){e!=1&&Xn==R.requestAnimationFrame||((Xn=R.requestAnimationFrame)||wi)(ki)}function tt(e){var t=q,o=e.__c;typeof o=="function"&&(e.
__c=void 0,o()),q=t}function un(e){var t=q;e.__c=e.__(),q=t}function dn(e,t){return!e||e.length!=t.length||t.some(function(o,i){return!ln(o,e[i])})}function uo(e,t){return typeof t=="function"?t(e):t}var xi=Symbol.for("preact-signals");function $t(){if(me>1)me--;else{var e,t=!1;for((function(){var s=Ct;for(Ct=void 0;s!==void 0;){var r=s.S;if(r.v===s.v)for(var l=r.t;l!==void 0;l=l.x)l.i===s.i&&(l.i=
r.i);s=s.o}})();it!==void 0;){var o=it;for(it=void 0,Tt++;o!==void 0;){var i=o.u;if(o.u=void 0,o.f&=-3,!(8&o.f)&&fo(o))try{o.c()}catch(s){t||(e=s,t=!0)}o=i}}if(Tt=0,me--,t)throw e}}function fn(e){if(me>
0)return e();pn=++Si,me++;try{return e()}finally{$t()}}var ot,B=void 0;function st(e){var t=B,o=ot;B=void 0,ot=void 0;try{return e()}finally{B=t,ot=o}}var it=void 0,me=0,Tt=0,Si=0,pn=0,Ct=void 0,Et=0;
function po(e){if(B!==void 0){var t=e.n;if(t===void 0||t.t!==B)return t={i:0,S:e,p:B.s,n:void 0,t:B,e:void 0,x:void 0,r:t},B.s!==void 0&&(B.s.n=t),B.s=t,e.n=t,32&B.f&&e.S(t),t;if(t.i===-1)return t.i=0,
t.n!==void 0&&(t.n.p=t.p,t.p!==void 0&&(t.p.n=t.n),t.p=B.s,t.n=void 0,B.s.n=t,B.s=t),t}}function U(e,t){this.v=e,this.i=0,this.n=void 0,this.t=void 0,this.l=0,this.W=t?.watched,this.Z=t?.unwatched,this.
name=t?.name}U.prototype.brand=xi;U.prototype.h=function(){return!0};U.prototype.S=function(e){var t=this,o=this.t;o!==e&&e.e===void 0&&(e.x=o,this.t=e,o!==void 0?o.e=e:st(function(){var i;(i=t.W)==null||
i.call(t)}))};U.prototype.U=function(e){var t=this;if(this.t!==void 0){var o=e.e,i=e.x;o!==void 0&&(o.x=i,e.e=void 0),i!==void 0&&(i.e=o,e.x=void 0),e===this.t&&(this.t=i,i===void 0&&st(function(){var s;
(s=t.Z)==null||s.call(t)}))}};U.prototype.subscribe=function(e){var t=this;return Z(function(){var o=t.value;st(function(){return e(o)})},{name:"sub"})};U.prototype.valueOf=function(){return this.value};
U.prototype.toString=function(){return this.value+""};U.prototype.toJSON=function(){return this.value};U.prototype.peek=function(){var e=this;return st(function(){return e.value})};Object.defineProperty(
U.prototype,"value",{get:function(){var e=po(this);return e!==void 0&&(e.i=this.i),this.v},set:function(e){if(e!==this.v){if(Tt>100)throw new Error("Cycle detected");(function(o){me!==0&&Tt===0&&o.l!==
pn&&(o.l=pn,Ct={S:o,v:o.v,i:o.i,o:Ct})})(this),this.v=e,this.i++,Et++,me++;try{for(var t=this.t;t!==void 0;t=t.x)t.t.N()}finally{$t()}}}});function N(e,t){return new U(e,t)}function fo(e){for(var t=e.
s;t!==void 0;t=t.n)if(t.S.i!==t.i||!t.S.h()||t.S.i!==t.i)return!0;return!1}function mo(e){for(var t=e.s;t!==void 0;t=t.n){var o=t.S.n;if(o!==void 0&&(t.r=o),t.S.n=t,t.i=-1,t.n===void 0){e.s=t;break}}}
function ho(e){for(var t=e.s,o=void 0;t!==void 0;){var i=t.p;t.i===-1?(t.S.U(t),i!==void 0&&(i.n=t.n),t.n!==void 0&&(t.n.p=i)):o=t,t.S.n=t.r,t.r!==void 0&&(t.r=void 0),t=i}e.s=o}function Ae(e,t){U.call(
this,void 0,t),this.x=e,this.s=void 0,this.g=Et-1,this.f=4}Ae.prototype=new U;Ae.prototype.h=function(){if(this.f&=-3,1&this.f)return!1;if((36&this.f)==32||(this.f&=-5,this.g===Et))return!0;if(this.g=
Et,this.f|=1,this.i>0&&!fo(this))return this.f&=-2,!0;var e=B;try{mo(this),B=this;var t=this.x();(16&this.f||this.v!==t||this.i===0)&&(this.v=t,this.f&=-17,this.i++)}catch(o){this.v=o,this.f|=16,this.
i++}return B=e,ho(this),this.f&=-2,!0};Ae.prototype.S=function(e){if(this.t===void 0){this.f|=36;for(var t=this.s;t!==void 0;t=t.n)t.S.S(t)}U.prototype.S.call(this,e)};Ae.prototype.U=function(e){if(this.
t!==void 0&&(U.prototype.U.call(this,e),this.t===void 0)){this.f&=-33;for(var t=this.s;t!==void 0;t=t.n)t.S.U(t)}};Ae.prototype.N=function(){if(!(2&this.f)){this.f|=6;for(var e=this.t;e!==void 0;e=e.x)
e.t.N()}};Object.defineProperty(Ae.prototype,"value",{get:function(){if(1&this.f)throw new Error("Cycle detected");var e=po(this);if(this.h(),e!==void 0&&(e.i=this.i),16&this.f)throw this.v;return this.
v}});function ee(e,t){return new Ae(e,t)}function vo(e){var t=e.j;if(e.j=void 0,typeof t=="function"){me++;var o=B;B=void 0;try{t()}catch(i){throw e.f&=-2,e.f|=8,mn(e),i}finally{B=o,$t()}}}function mn(e){
for(var t=e.s;t!==void 0;t=t.n)t.S.U(t);e.x=void 0,e.s=void 0,vo(e)}function Ti(e){if(B!==this)throw new Error("Out-of-order effect");ho(this),B=e,this.f&=-2;try{8&this.f&&mn(this)}finally{$t()}}function He(e,t){
this.x=e,this.j=void 0,this.s=void 0,this.u=void 0,this.f=32,this.name=t?.name,ot&&ot.push(this)}He.prototype.c=function(){var e=this.S();try{if(8&this.f||this.x===void 0)return;var t=this.x();typeof t==
"function"&&(this.j=t)}finally{e()}};He.prototype.S=function(){if(1&this.f)throw new Error("Cycle detected");this.f|=1,this.f&=-9,vo(this),mo(this),me++;var e=B;return B=this,Ti.bind(this,e)};He.prototype.
N=function(){2&this.f||(this.f|=2,this.u=it,it=this)};He.prototype.d=function(){this.f|=8,1&this.f||mn(this)};He.prototype.dispose=function(){this.d()};function Z(e,t){var o=new He(e,t);try{o.c()}catch(s){
throw o.d(),s}var i=o.d.bind(o);return i[Symbol.dispose]=i,i}var go,Lt,Pt,Ci=typeof window<"u"&&!!window.__PREACT_SIGNALS_DEVTOOLS__;var _o=[];Z(function(){go=this.N})();function Ke(e,t){w[e]=t.bind(null,w[e]||function(){})}function rt(e){if(Pt){var t=Pt;Pt=void 0,t()}Pt=e&&e.S()}function yo(e){var t=this,o=e.data,i=$i(o);i.name="R\
eactiveDom",i.value=o;var s=Ne(function(){for(var a=t,p=t.__v;p=p.__;)if(p.__c){p.__c.__$f|=4;break}var d=ee(function(){var c=i.value.value;return c===0?0:c===!0?"":c||""}),u=ee(function(){return!Array.
isArray(d.value)&&!Yt(d.value)}),f=Z(function(){if(this.N=bo,u.value){var c=d.value;a.__v&&a.__v.__e&&a.__v.__e.nodeType===3&&(a.__v.__e.data=c)}}),_=t.__$u.d;return t.__$u.d=function(){f(),_.call(this)},
[u,d]},[]),r=s[0],l=s[1];return r.value?l.peek():l.value}yo.displayName="ReactiveTextNode";Object.defineProperties(U.prototype,{constructor:{configurable:!0,value:zn(m,null).constructor},type:{configurable:!0,
value:yo},props:{configurable:!0,get:function(){var e=this;return{data:{get value(){return e.value}}}}},__b:{configurable:!0,value:1}});Ke("__b",function(e,t){if(rt(),Lt=void 0,typeof t.type=="string"){
var o,i=t.props;for(var s in i)if(s!=="children"){var r=i[s];r instanceof U&&(o||(t.__np=o={}),o[s]=r,i[s]=r.peek())}}e(t)});Ke("__r",function(e,t){if(e(t),t.type!==m){rt();var o,i=t.__c;i&&(i.__$f&=-2,
(o=i.__$u)===void 0&&(i.__$u=o=(function(s,r){var l;return Z(function(){l=this},{name:r}),l.c=s,l})((function(s){return function(){var r;Ci&&((r=this.y)==null||r.call(this)),s.__$f|=1,s.setState({})}})(
i),typeof t.type=="function"?t.type.displayName||t.type.name:""))),Lt=i,rt(o)}});Ke("__e",function(e,t,o,i){rt(),Lt=void 0,e(t,o,i)});Ke("diffed",function(e,t){rt(),Lt=void 0;var o;if(typeof t.type=="\
string"&&(o=t.__e)){var i=t.__np,s=t.props,r=o.U;if(r)for(var l in r){var a=r[l];a===void 0||i&&l in i||(a.d(),r[l]=void 0)}if(i){r||(r={},o.U=r);for(var p in i){var d=r[p],u=i[p];d===void 0?(d=Ei(o,p,
u,s),r[p]=d):d.o(u,s)}}}e(t)});function Ei(e,t,o,i){var s=t in e&&e.ownerSVGElement===void 0,r=N(o);return{o:function(l,a){r.value=l,i=a},d:Z(function(){this.N=bo;var l=r.value.value;i[t]!==l&&(i[t]=l,
s?e[t]=l:l!=null&&(l!==!1||t[4]==="-")?e.setAttribute(t,l):e.removeAttribute(t))})}}Ke("unmount",function(e,t){if(typeof t.type=="string"){var o=t.__e;if(o){var i=o.U;if(i){o.U=void 0;for(var s in i){
var r=i[s];r&&r.d()}}}var l=t.__np;if(l){var a=t.props;for(var p in l)a[p]=l[p]}t.__np=void 0}else{var d=t.__c;if(d){d.__$f|=8;var u=d.__$u;u&&(d.__$u=void 0,u.d())}}e(t)});Ke("__h",function(e,t,o,i){
i<3&&(t.__$f|=2),e(t,o,i)});qe.prototype.shouldComponentUpdate=function(e,t){if(this.__R)return!0;var o=this.__$u,i=o&&o.s!==void 0;for(var s in t)return!0;if(this.__f||typeof this.u=="boolean"&&this.
u===!0){var r=2&this.__$f;if(!(i||r||4&this.__$f)||1&this.__$f)return!0}else if(!(i||4&this.__$f)||3&this.__$f)return!0;for(var l in e)if(l!=="__source"&&e[l]!==this.props[l])return!0;for(var a in this.
props)if(!(a in e))return!0;return!1};function $i(e,t){return Ne(function(){return N(e,t)},[])}var Pi=function(e){queueMicrotask(function(){queueMicrotask(e)})};function Li(){fn(function(){for(var e;e=_o.shift();)go.call(e)})}function bo(){_o.push(this)===1&&(w.requestAnimationFrame||Pi)(Li)}function hn(e,t,o){let i=o;try{let r=e().getItem(t);r!==null&&(i=JSON.parse(r))}catch{}let s=N(i);return Z(()=>{let r=JSON.stringify(s.value);try{e().setItem(t,r)}catch{}}),s}var he=(e,t)=>hn(()=>localStorage,
"minibus."+e,t);var ve=N(!1),Oe=hn(()=>sessionStorage,"minibus.connection",""),Ni=3600,De;function vn(){De=void 0,ve.value=!0}function ko(e){if(xo(e),!globalThis.crypto?.subtle)throw new Error("A browser signs only f\
or pages of this machine or over TLS. Open this page as http://localhost or with https.");Oe.value=e.trim(),De=void 0,ve.value=!1}function wo(){Oe.value="",vn()}var gn=()=>Oe.value!=="";function xo(e){
let t=new Map;for(let l of e.trim().split(";")){let a=l.indexOf("=");a>0&&t.set(l.slice(0,a).trim().toLowerCase(),l.slice(a+1).trim())}let o=t.get("endpoint"),i=t.get("sharedaccesskeyname"),s=t.get("s\
haredaccesskey");if(!o||!i||!s)throw new Error("This is no connection string with a key. It looks like Endpoint=sb://localhost;SharedAccessKeyName=...;SharedAccessKey=...");let r=/^[a-z]+:\/\/([^/?#]+)/i.
exec(o)?.[1];if(!r)throw new Error("The Endpoint of the connection string is not an address such as sb://localhost.");return{host:r,name:i,value:s}}async function So(){if(!Oe.value)return{};let e=Math.
floor(Date.now()/1e3);if(!De||De.of!==Oe.value||De.until<e+60){let t=e+Ni;De={text:await Ai(xo(Oe.value),t),until:t,of:Oe.value}}return{Authorization:De.text}}async function Ai(e,t){let o=a=>new TextEncoder().
encode(a),i=encodeURIComponent(`sb://${e.host}/`),s=await crypto.subtle.importKey("raw",o(e.value),{name:"HMAC",hash:"SHA-256"},!1,["sign"]),r=new Uint8Array(await crypto.subtle.sign("HMAC",s,o(`${i}
${t}`))),l=encodeURIComponent(btoa(String.fromCharCode(...r)));return`SharedAccessSignature sr=${i}&sig=${l}&se=${t}&skn=${encodeURIComponent(e.name)}`}var ke=class extends Error{constructor(o,i){super(i);this.status=o}status};function T(e,...t){return"namespaces/"+e.map((i,s)=>i+(s<t.length?encodeURIComponent(String(t[s])):"")).join("")}function Di(e,t={}){
let o=new URLSearchParams;for(let[s,r]of Object.entries(t))r===void 0||r===""||Array.isArray(r)&&r.length===0||o.set(s,Array.isArray(r)?r.join(","):String(r));let i=o.toString();return"/$minibus/v1/"+
e+(i?"?"+i:"")}async function _n(e,t,o={}){let i=await So();o.body!==void 0&&(i["Content-Type"]="application/json");let s;try{s=await fetch(Di(t,o.query),{method:e,headers:i,signal:o.signal,cache:"no-\
store",credentials:"omit",body:o.body===void 0?void 0:JSON.stringify(o.body)})}catch(a){throw o.signal?.aborted?a:new ke(0,"Minibus does not answer. Check that it runs; this page goes on by itself whe\
n it is back.")}if(s.ok)return s;s.status===401&&vn();let r=await s.json().catch(()=>({})),l=(r.errors??[]).map(a=>typeof a=="string"?a:a.message??"");throw new ke(s.status,[r.detail||`The server answ\
ered ${s.status} ${s.statusText}.`,...l].join(`
`))}async function z(e,t,o={}){let s=await(await _n(e,t,o)).text();return s?JSON.parse(s):void 0}var j=(e,t,o)=>z("GET",e,{query:t,signal:o});async function we(e,t={},o=2e4,i){let s=[],r;do{let l=await j(
e,{limit:1e3,...t,cursor:r},i);s.push(...l.items),r=l.next}while(r&&s.length<o);return s}function X(e){return e instanceof Error?e.message:String(e)}var Oi=new Intl.NumberFormat("en"),g=e=>Oi.format(e).replace(/,/g," ");function ze(e){if(e<1e3)return String(e);for(let[t,o]of[["M",1e6],["k",1e3]])if(e>=o){let i=e/o;return(i<10?Math.floor(i*10)/10:
Math.floor(i))+t}return String(e)}function ae(e){let t=e;for(let o of["B","KiB","MiB","GiB"]){if(t<1024||o==="GiB")return`${t<10&&o!=="B"?t.toFixed(1):g(Math.round(t))} ${o}`;t/=1024}return g(e)}var M=(e,t,o=t+
"s")=>`${g(e)} ${e===1?t:o}`;function re(e){let t=Math.floor(Math.abs(e)/1e3);if(t<1)return"0 s";let o=[[86400*365,"y"],[86400,"d"],[3600,"h"],[60,"min"],[1,"s"]],i=o.findIndex(([d])=>t>=d),[s,r]=o[i],
l=Math.floor(t/s),a=o[i+1],p=a?Math.floor(t%s/a[0]):0;return p>0&&l<100?`${l} ${r} ${p} ${a[1]}`:`${l} ${r}`}function at(e,t){let o=t-e;return Math.abs(o)<1e3?"now":o>0?re(o)+" ago":"in "+re(o)}function We(e){
let t=/^(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/.exec(e);if(!t)return e;let o=((Number(t[2]??0)*24+Number(t[3]??0))*60+Number(t[4]??0))*6e4+Number(t[5]??0)*1e3;if(o>=864e5*365*1e3)
return"for ever";let i=t[1]?"−":"";return o>0&&o<1e3?`${i}${Math.round(o)} ms`:i+re(o)}var G=he("zone","local"),To=new Map;function Nt(e,t){let o=e+JSON.stringify(t),i=To.get(o);return i||To.set(o,i=
new Intl.DateTimeFormat("en-GB",{...t,hour12:!1,timeZone:e?"UTC":void 0})),i}var At={year:"numeric",month:"short",day:"numeric"},yn={hour:"2-digit",minute:"2-digit",second:"2-digit"};function Je(e,t,o=!1){
let i=G.value==="utc",s=o?{...yn,fractionalSecondDigits:3}:yn,r=Nt(i,At).format(e)===Nt(i,At).format(t);return Nt(i,r?s:{...At,...s}).format(e)}function Dt(e){let t={...At,...yn,fractionalSecondDigits:3};
return`${Nt(!1,{...t,timeZoneName:"short"}).format(e)}
${new Date(e).toISOString()}`}function Co(e){return e.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g,t=>t===`
`||t==="	"?t:`⟨${t.charCodeAt(0).toString(16).padStart(4,"0")}⟩`)}var Bi=20;function Ot(e,t){let o=new AbortController,i,s=!1,r=!1,l=async()=>{if(clearTimeout(i),o.signal.aborted||document.hidden)return;if(s){r=!0;return}s=!0;let a=performance.now();await t(o.signal).
catch(()=>{}),s=!1,!o.signal.aborted&&(i=setTimeout(l,r?0:Math.max(e,(performance.now()-a)*Bi)),r=!1)};return document.addEventListener("visibilitychange",l),l(),{now:()=>{l()},end:()=>{o.abort(),clearTimeout(
i),document.removeEventListener("visibilitychange",l)}}}function Q(e,t,o){let[i,s]=$({key:e}),r=ne(o);r.current=o;let l=ne(()=>{});fe(()=>{let p=Ot(t,async d=>{try{let u=await r.current(d);d.aborted||
s({key:e,value:u})}catch(u){d.aborted||s(f=>({key:e,value:f.key===e?f.value:void 0,error:X(u)}))}});return l.current=p.now,p.end},[e,t]);let a=co(()=>l.current(),[]);return i.key===e?{value:i.value,error:i.
error,refresh:a}:{refresh:a}}var bn=N(location.hash);addEventListener("hashchange",()=>bn.value=location.hash);function Mi(e){try{return decodeURIComponent(e)}catch{return e}}var k=ee(()=>{let[e="",t=""]=bn.value.replace(/^#\/?/,
"").split("?",2),[o="",i="",...s]=e.split("/").map(Mi);return{namespace:o,screen:i,rest:s,query:Object.fromEntries(new URLSearchParams(t))}});function b(e,...t){return Be(k.value.namespace,e,...t)}function Be(e,t,...o){
return"#/"+[e,t,...o].filter(i=>i!=="").map(encodeURIComponent).join("/")}function xe(e,t){let o=new URLSearchParams;for(let[s,r]of Object.entries(t))r!==void 0&&r!==""&&o.set(s,String(r));let i=o.toString();
return i?e+"?"+i:e}function oe(e){location.hash=e}function ge(e){let[t="#/"]=location.hash.split("?",1),o=xe(t,{...k.value.query,...e});o!==location.hash&&(history.replaceState(null,"",o),bn.value=o)}var le=N(void 0),W=N(void 0),lt=N(""),je=N(void 0),$o=N(Date.now()),ce=he("theme","system"),Me=he("favourites",[]),H=ee(()=>k.value.namespace),Po=ee(()=>new Map((W.value??[]).map(e=>[e.path.toLowerCase(),
e]))),V=ee(()=>{let e=je.value;return e?.frozen??$o.value+(e?.offset??0)});Z(()=>{document.documentElement.dataset.theme=ce.value});Ot(1e3,async()=>{$o.value=Date.now()});var Fi=180,Ii=300,ct=new Map,
kn=N(0),Lo=e=>ct.get(e.toLowerCase())??[],Ri=["active","deadLetter","scheduled"];function qi(e){let t=Date.now(),o={at:t,active:0,deadLetter:0,scheduled:0},i=k.value.screen==="entity"?k.value.rest[0]?.
toLowerCase():void 0;for(let s of e){for(let r of Ri)o[r]+=s.kind==="topic"&&r!=="scheduled"?0:s.counts[r];(e.length<=Ii||s.path.toLowerCase()===i)&&Eo(s.path.toLowerCase(),{at:t,active:s.counts.active,
deadLetter:s.counts.deadLetter,scheduled:s.counts.scheduled})}Eo("",o),kn.value++}function Eo(e,t){let o=ct.get(e);o?o.push(t)>Fi&&o.shift():ct.set(e,[t])}function No(e){let t=Date.parse(e.now);je.value=
e.frozen?{offset:t-Date.now(),frozen:t}:{offset:Math.abs(t-Date.now())<1500?0:t-Date.now()}}var Bt=0;async function Ui(e){if(ve.value)return;let t=H.value;try{(!le.value||Bt%10===9)&&await Hi(e);let o=H.
value;if(!o)return;(!je.value||Bt%5===4)&&No(await j(T`${o}/clock`,{due:1},e));let i=await we(T`${o}/entities`,{},2e4,e);if(Bt++,H.value!==o)return;W.value=i,qi(i),lt.value=""}catch(o){if(e.aborted||H.
value!==t)return;lt.value=X(o),o instanceof ke&&o.status===404&&(le.value=void 0)}}async function Hi(e){let t=(await j("namespaces",{},e)).namespaces;if(le.value=t,!k.value.namespace){let o=t.find(i=>i.
default)??t[0];o&&(ct.clear(),location.replace(Be(o.name,"")))}}var Mt;function Se(){Mt?.now()}function Ao(e){No(e),Se()}function Do(){let e="";Z(()=>{let t=H.value;t!==e&&(e=t,ct.clear(),W.value=void 0,
je.value=void 0,Bt=0,Mt?.now())}),Z(()=>{ve.value||Mt?.now()}),Mt=Ot(2e3,Ui)}function Ft(e){let t=H.value+`
`+e;Me.value=Me.value.includes(t)?Me.value.filter(o=>o!==t):[...Me.value,t]}var It=e=>Me.value.includes(H.value+`
`+e);var Ki=Symbol.for("pv"),zi=0;function n(e,t,o,i,s,r){t||(t={});var l,a,p=t;if("ref"in p&&typeof e!="function")for(a in p={},t)a=="ref"?l=t[a]:p[a]=t[a];var d={type:e,props:p,key:o,ref:l,__k:null,__:null,__b:0,__e:null,__c:null,constructor:Ki,
__v:--zi,__i:-1,__u:0};return(s||r)&&(d.__source=s,d.__self=r),w.vnode&&w.vnode(d),d}function h({children:e,class:t}){return n("bdi",{class:t,title:e,children:Co(e)})}function F({at:e,millis:t,ageOnly:o}){if(!e)return n("span",{class:"faint",children:"–"});let i=Date.parse(e);return n(
"time",{dateTime:e,title:Dt(i),class:"time",children:o?at(i,V.value):n(m,{children:[Je(i,V.value,t)," ",n("span",{class:"faint",children:at(i,V.value)})]})})}function C({kind:e="plain",small:t,act:o,disabled:i,
children:s,type:r="button",title:l}){let[a,p]=$(!1),d=o&&(async()=>{p(!0);try{await o()}catch(u){ie(X(u),!0)}p(!1)});return n("button",{type:r,class:`button ${e} ${t?"small":""}`,disabled:i||a,"aria-b\
usy":a||void 0,title:l,onClick:d,children:s})}function P({title:e,actions:t,children:o,flush:i}){return n("section",{class:"panel",children:[e&&n("header",{class:"panel-head",children:[n("h2",{children:e}),
n("div",{class:"actions",children:t})]}),n("div",{class:i?"":"panel-body",children:o})]})}function A({title:e,children:t}){return n("div",{class:"empty",children:[n("p",{class:"empty-title",children:e}),
t]})}function L({text:e,retry:t}){return n("div",{class:"problem",role:"alert",children:[n("span",{class:"wrap",children:e}),t&&n(C,{small:!0,act:t,children:"Try again"})]})}function J(){return n("p",
{class:"loading",role:"status",children:"Loading…"})}function K({tone:e="",children:t,title:o}){return n("span",{class:`badge ${e}`,title:o,children:t})}function Te({facts:e}){return n("dl",{class:"\
facts",children:e.map(([t,o])=>n("div",{children:[n("dt",{children:t}),n("dd",{children:o})]},t))})}function Rt({tabs:e,at:t}){return n("nav",{class:"tabs","aria-label":"Views",children:e.map(o=>n("a",
{href:o.href,class:"tab","aria-current":o.name===t?"page":void 0,children:[o.title,o.count!==void 0&&n("span",{class:"tab-count",children:o.count})]},o.name))})}function Fe({label:e,hint:t,children:o}){
return n("label",{class:"field",children:[n("span",{class:"field-label",children:e}),o,t&&n("span",{class:"hint",children:t})]})}async function Wi(e){try{await navigator.clipboard.writeText(e)}catch{let t=document.
createElement("textarea");t.value=e,document.body.append(t),t.select(),document.execCommand("copy"),t.remove()}ie("Copied.")}function xn({text:e,what:t="Copy"}){return n(C,{small:!0,act:()=>Wi(e),children:t})}
function qt({text:e,label:t}){return n("div",{class:"code",children:[n("pre",{tabIndex:0,"aria-label":t??"Code",children:e}),n(xn,{text:e})]})}var ut=N([]),Ji=0;function ie(e,t=!1){let o=++Ji;ut.value=
[...ut.value.slice(-3),{id:o,text:e,failed:t}],setTimeout(()=>Oo(o),t?15e3:4e3)}function Oo(e){ut.value=ut.value.filter(t=>t.id!==e)}function Sn(){return n("div",{class:"toasts","aria-live":"polite",children:ut.
value.map(e=>n("div",{class:`toast ${e.failed?"failed":""}`,role:e.failed?"alert":"status",children:[n("span",{class:"wrap",children:e.text}),n("button",{type:"button",class:"close","aria-label":"Dism\
iss",onClick:()=>Oo(e.id),children:"×"})]},e.id))})}function Ge({title:e,close:t,children:o,wide:i}){let s=ne(null);return fe(()=>{let r=document.activeElement;return s.current?.showModal(),()=>r?.focus?.()},
[]),n("dialog",{ref:s,class:i?"wide":"","aria-label":e,onCancel:r=>{r.preventDefault(),t()},onClick:r=>r.target===s.current&&t(),children:n("div",{class:"dialog",children:[n("header",{children:[n("h2",
{children:e}),n("button",{type:"button",class:"close","aria-label":"Close",onClick:t,children:"×"})]}),o]})})}var wn=N(void 0);function te(e){wn.value=e}function Bo(){let e=wn.value;if(!e)return null;
let t=()=>wn.value=void 0;return n(Ge,{title:e.title,close:t,children:[n("div",{class:"dialog-body",children:e.text}),n("footer",{children:[n(C,{act:t,children:"Keep"}),n(C,{kind:"danger",act:async()=>{
try{await e.act()}finally{t()}},children:e.yes})]})]})}var Tn="/Subscriptions/";function Ce(e){let t=e.toLowerCase().lastIndexOf(Tn.toLowerCase());return t>0?e.slice(0,t):void 0}function Mo(e){let t=e.kind==="subscription"?Ce(e.path):void 0;return t===void 0?
e.path:e.path.slice(t.length+Tn.length)}function D(e){let t=Ce(e);return t===void 0?e:`${t} › ${e.slice(t.length+Tn.length)}`}var Ut="$DeadLetterQueue";var ji={lockEnds:"a lock ends",scheduled:"scheduled messages become active",expires:"messages expire",sessionLockEnds:"the lock of a session ends",forwardRetried:"a forward is tried again",idle:"the e\
ntity is deleted unless it is used"},Gi=[["PT1S","1 s"],["PT30S","30 s"],["PT1M","1 min"],["PT5M","5 min"],["PT1H","1 h"],["P1D","1 day"]];function Fo(){let e=k.value.namespace,t=Q(e,2e3,c=>j(T`${e}/clock`,
{due:50},c)),[o,i]=$("PT10M"),[s,r]=$(""),l=t.value;if(!l)return t.error?n(L,{text:t.error,retry:t.refresh}):n(J,{});let a=(c,v)=>{Ao(c),t.refresh(),ie(v)},p=async c=>a(await z("POST",T`${e}/clock/advance`,
{body:{by:c}}),`Time has passed: ${We(c)}.`),d=async c=>a(await z("PUT",T`${e}/clock`,{body:{now:c}}),"The clock was advanced."),u=async()=>a(await z("POST",T`${e}/clock/freeze`),"Time stands still."),
f=async()=>a(await z("POST",T`${e}/clock/resume`),"Time goes on."),_=c=>new Date(G.value==="utc"?c+"Z":c).toISOString();return n(m,{children:[n("h1",{children:"Clock"}),t.error&&n(L,{text:t.error}),n(
P,{title:"What the namespace takes for now",actions:l.frozen?n(C,{kind:"primary",act:f,children:"Resume"}):n(C,{act:u,children:"Freeze"}),children:[n("p",{class:"big-clock",children:[n("span",{title:Dt(
V.value),children:Je(V.value,Date.now())}),l.frozen&&n("span",{class:"badge warn",children:"frozen"})]}),n(Te,{facts:[["Ahead of the machine’s clock",We(l.offset)==="0 s"?"no":We(l.offset)],["UTC",new Date(
V.value).toISOString().replace(/\.\d+/,"")]]}),n("p",{class:"hint",children:"Locks, schedules, times to live and idle entities follow this clock. No time passes on the network."})]}),n(P,{title:"Let t\
ime pass",children:[n("div",{class:"bar",children:Gi.map(([c,v])=>n(C,{act:()=>p(c),children:["+ ",v]},c))}),n("form",{class:"bar",onSubmit:c=>{c.preventDefault(),p(o).catch(v=>ie(v.message,!0))},children:[
n(Fe,{label:"By a duration (ISO 8601)",children:n("input",{value:o,spellcheck:!1,onInput:c=>i(c.currentTarget.value)})}),n(C,{type:"submit",disabled:!o,children:"Advance"})]}),n("form",{class:"bar",onSubmit:c=>{
c.preventDefault(),d(_(s)).catch(v=>ie(v.message,!0))},children:[n(Fe,{label:`To an instant (${G.value==="utc"?"UTC":"local time"})`,children:n("input",{type:"datetime-local",step:"1",value:s,onInput:c=>r(
c.currentTarget.value)})}),n(C,{type:"submit",disabled:!s,children:"Advance"})]})]}),n(P,{title:"What happens next by itself",flush:!0,children:[l.due.length===0&&n(A,{title:"Nothing is due: no lock i\
s held, nothing is scheduled, nothing expires."}),l.due.length>0&&n("div",{class:"scroll",children:n("table",{class:"plain",children:[n("thead",{children:n("tr",{children:[n("th",{children:"When"}),n(
"th",{children:"What"}),n("th",{children:"Entity"}),n("th",{children:n("span",{class:"hidden",children:"Actions"})})]})}),n("tbody",{children:l.due.map((c,v)=>n("tr",{children:[n("td",{children:n(F,{at:c.
at})}),n("td",{children:ji[c.kind]}),n("td",{children:n("a",{href:b("entity",c.entity),children:n(h,{children:D(c.entity)})})}),n("td",{class:"right",children:n(C,{small:!0,act:()=>te({title:"Advance \
the clock?",yes:"Advance",text:n("p",{children:["All that is due until then happens, in every entity of the namespace: ",at(Date.parse(c.at),V.value),". A clock never goes back."]}),act:()=>d(c.at)}),
children:"Advance to it"})})]},v))})]})})]})]})}var Io=he("language","shell"),ue=e=>JSON.stringify(e),En=e=>"'"+e.replaceAll("'","'\\''")+"'",Cn=[{name:"shell",title:"Shell",text:(e,t)=>`minibus send ${En(t)} hello --connection ${En(e)}`},{name:"ne\
t",title:".NET",text:(e,t)=>`// dotnet add package Azure.Messaging.ServiceBus
using Azure.Messaging.ServiceBus;

await using var client = new ServiceBusClient(${ue(e)});
await client.CreateSender(${ue(t)}).SendMessageAsync(new ServiceBusMessage("hello"));`},{name:"java",title:"Java",text:(e,t)=>`// com.azure:azure-messaging-servicebus
try (var sender = new ServiceBusClientBuilder()
        .connectionString(${ue(e)})
        .sender().queueName(${ue(t)}).buildClient()) {
    sender.sendMessage(new ServiceBusMessage("hello"));
}`},{name:"js",title:"JavaScript",text:(e,t)=>`// npm install @azure/service-bus
import { ServiceBusClient } from "@azure/service-bus";

const client = new ServiceBusClient(${ue(e)});
await client.createSender(${ue(t)}).sendMessages({ body: "hello" });
await client.close();`},{name:"python",title:"Python",text:(e,t)=>`# pip install azure-servicebus
from azure.servicebus import ServiceBusClient, ServiceBusMessage

connection = ${ue(e)}
with ServiceBusClient.from_connection_string(connection) as client:
    with client.get_queue_sender(${ue(t)}) as sender:
        sender.send_messages(ServiceBusMessage("hello"))`},{name:"go",title:"Go",text:(e,t)=>`client, err := azservicebus.NewClientFromConnectionString(${ue(e)}, nil)
if err != nil {
	log.Fatal(err)
}
sender, err := client.NewSender(${ue(t)}, nil)
if err != nil {
	log.Fatal(err)
}
err = sender.SendMessage(context.Background(), &azservicebus.Message{Body: []byte("hello")}, nil)`}];function dt({entity:e}){let t=le.value?.find(l=>l.name===H.value),o=Cn.find(l=>l.name===Io.value)??
Cn[0],i=Ce(e)??e,s=W.value?.some(l=>l.kind==="topic"&&l.path===i),r=o.text(t?.connectionString??"",i);return s&&(r=r.replace("get_queue_sender","get_topic_sender").replace(".queueName(",".topicName(")),
n(m,{children:[n("div",{class:"tabs small",role:"group","aria-label":"Language",children:Cn.map(l=>n("button",{type:"button",class:"tab","aria-pressed":l===o,onClick:()=>Io.value=l.name,children:l.title},
l.name))}),n(qt,{text:r,label:`Send in ${o.title}`})]})}function Ro(){let e=le.value?.find(o=>o.name===H.value);if(!e)return null;let t=W.value?.find(o=>o.kind!=="subscription");return n(m,{children:[
n("h1",{children:"Connect"}),n(P,{title:"Connection strings",children:[e.connectionStrings.length===0&&n(A,{title:"The namespace has no policy, and so no connection string."}),e.connectionStrings.map(
o=>n("div",{class:"connection-string",children:[n("p",{children:[n("b",{children:n(h,{children:o.keyName})})," ",o.rights.map(i=>n(K,{children:i},i))]}),n(qt,{text:o.connectionString,label:`Connection\
 string of ${o.keyName}`})]},o.keyName)),n("p",{class:"hint",children:"One string serves messages and administration in every language. Clients in containers need a host name that leads here in the pl\
ace of localhost."})]}),t&&n(P,{title:"Send the first message",children:n(dt,{entity:t.path})}),n(P,{title:"In the environment of your program",children:n(qt,{text:`SERVICEBUS_CONNECTION_STRING=${En(e.
connectionString)}`,label:"Variable of the environment"})})]})}var Qi={message:"a message",credit:"credit",session:"a free session",window:"room in the session’s window",settlement:"settlements",reading:"the client to read",journal:"the disk",detach:"the end of\
 the link"};function $n(e,t){return Q(JSON.stringify([e,t]),2e3,o=>we(T`${e}/connections`,{entity:t},1e3,o))}var Kt=e=>e.entity!==void 0&&!e.address.endsWith("/$management"),Wt=e=>e.container||e.product||
e.remote;function Vi(e,t,o){let i=t.links.reduce((s,r)=>s+r.unsettled,0);te({title:"Close this connection?",yes:"Close the connection",text:n(m,{children:[n("p",{children:[n(h,{children:Wt(t)})," at ",
t.remote," loses ",M(t.links.length,"link"),"."]}),n("p",{children:[i>0?`${M(i,"message")} that it has not settled come back.`:"It has no message that is not settled."," An SDK connects again by itsel\
f."]})]}),act:async()=>{await z("DELETE",T`${e}/connections/${t.id}`),o()}})}function Zi(e,t,o,i){te({title:"Detach this link?",yes:"Detach the link",text:n(m,{children:[n("p",{children:["The ",o.role,
" of ",n(h,{children:Wt(t)})," on ",n(h,{children:D(o.address)})," ends, and the rest of its connection stays."]}),n("p",{children:[o.role==="receiver"&&o.unsettled>0?`It holds ${M(o.unsettled,"messag\
e")} that it has not settled.`:"It holds no message."," An SDK attaches again by itself."]})]}),act:async()=>{await z("DELETE",T`${e}/connections/${t.id}/links/${o.id}`),i()}})}function zt({namespace:e,
connection:t,links:o,done:i}){return n("div",{class:"scroll",tabIndex:0,role:"region","aria-label":`Links of ${Wt(t)}`,children:n("table",{class:"plain",children:[n("thead",{children:n("tr",{children:[
n("th",{children:"Role"}),n("th",{children:"Entity"}),n("th",{children:"Waits for"}),n("th",{class:"right",children:"Credit"}),n("th",{class:"right",children:"Unsettled"}),n("th",{class:"right",children:"\
Messages"}),n("th",{children:"Active"}),n("th",{children:n("span",{class:"hidden",children:"Actions"})})]})}),n("tbody",{children:o.map(s=>n("tr",{children:[n("td",{children:[n(K,{tone:s.role==="recei\
ver"?"good":"",children:s.role})," ",s.mode==="receiveAndDelete"&&n("span",{class:"faint",children:"deletes"})]}),n("td",{children:[s.entity?n("a",{href:b("entity",s.entity),children:n(h,{children:D(s.
address)})}):n(h,{children:s.address}),s.sessionId!==void 0&&n("div",{class:"faint",children:["session ",n(h,{children:s.sessionId})]})]}),n("td",{children:Qi[s.waitsFor]}),n("td",{class:"right",children:g(
s.credit)}),n("td",{class:"right",children:g(s.unsettled)}),n("td",{class:"right",children:g(s.deliveries)}),n("td",{children:n(F,{at:s.lastActive,ageOnly:!0})}),n("td",{class:"right",children:n(C,{small:!0,
act:()=>Zi(e,t,s,i),children:"Detach"})})]},s.id))})]})})}var Ht=200;function Xi({namespace:e,c:t,done:o}){let i=t.links.filter(Kt),s=t.links.filter(r=>!Kt(r));return n(m,{children:[i.length>0&&n(zt,{
namespace:e,connection:t,links:i.slice(0,Ht),done:o}),i.length>Ht&&n("p",{class:"hint pad",children:["and ",M(i.length-Ht,"more link")]}),i.length===0&&!t.busy&&n("p",{class:"hint pad",children:"No li\
nk carries messages."}),s.length>0&&n("details",{class:"more",children:[n("summary",{children:[M(s.length,"link")," of the library itself: tokens, requests, transactions"]}),n(zt,{namespace:e,connection:t,
links:s.slice(0,Ht),done:o})]})]})}function Yi({namespace:e,c:t,done:o}){let i=t.transport==="http";return n(P,{flush:!0,title:n(m,{children:[n(h,{children:Wt(t)})," ",n("span",{class:"faint",children:t.
id})]}),actions:n(m,{children:[n("a",{class:"button small",href:xe(b("events"),{client:i?t.remote:t.id}),children:"Events"}),!i&&n(C,{small:!0,kind:"danger",act:()=>Vi(e,t,o),children:"Close"})]}),children:[
n(Te,{facts:[["Library",[t.product,t.version].filter(Boolean).join(" ")||"unknown"],["Platform",t.platform?n(h,{children:t.platform}):"unknown"],["From",t.remote],["Transport",t.transport],["Since",n(
F,{at:t.since})],["Unread",ae(t.pendingBytes)],...t.policies.length?[["Policies",t.policies.join(", ")]]:[]]}),t.busy&&n("p",{class:"hint pad",children:"The connection did not answer in time, so its l\
inks are not known."}),n(Xi,{namespace:e,c:t,done:o})]})}function qo(){let e=k.value.namespace,t=$n(e),o=t.value?.reduce((i,s)=>i+s.links.length,0)??0;return n(m,{children:[n("h1",{children:["Connecti\
ons ",t.value&&n("span",{class:"faint",children:[g(t.value.length),", ",M(o,"link")]})]}),t.error&&n(L,{text:t.error,retry:t.refresh}),!t.value&&!t.error&&n(J,{}),t.value?.length===0&&n(A,{title:"No c\
lient is connected.",children:n("p",{children:[n("a",{href:b("connect"),children:"Copy a connection string"}),", and start your program."]})}),t.value?.map(i=>n(Yi,{namespace:e,c:i,done:t.refresh},i.id))]})}var pt=600,Ie=120,es=[{name:"active",class:"active",of:e=>e.active},{name:"dead-letter",class:"dead",of:e=>e.deadLetter},{name:"scheduled",class:"scheduled",of:e=>e.scheduled}];function ts(e,t,o){let i=e[0].
at,s=Math.max(e[e.length-1].at-i,1);return e.map((r,l)=>`${l?"L":"M"}${((r.at-i)/s*pt).toFixed(1)} ${(Ie-t(r)/o*(Ie-8)).toFixed(1)}`).join("")}function Jt({of:e=""}){kn.value;let t=Lo(e);if(t.length<2)
return n("p",{class:"hint chart-wait",children:"The chart begins in a moment. It shows the minutes since this page was opened."});let o=t[t.length-1],i=es.filter(a=>a.name==="active"||t.some(p=>a.of(p)>
0)),s=Math.max(1,...t.flatMap(a=>i.map(p=>p.of(a)))),r=re(o.at-t[0].at),l=i.map(a=>`${a.name} ${g(a.of(o))}`).join(", ");return n("figure",{class:"chart",children:[n("svg",{viewBox:`0 0 ${pt} ${Ie}`,preserveAspectRatio:"\
none",role:"img","aria-label":`Counts over the last ${r}: now ${l}`,children:[n("line",{class:"grid",x1:"0",x2:pt,y1:"8",y2:"8"}),n("line",{class:"grid",x1:"0",x2:pt,y1:(Ie+8)/2,y2:(Ie+8)/2}),n("line",
{class:"grid",x1:"0",x2:pt,y1:Ie-.5,y2:Ie-.5}),i.map(a=>n("path",{class:`line ${a.class}`,d:ts(t,a.of,s)},a.name))]}),n("figcaption",{children:[i.map(a=>n("span",{class:`key ${a.class}`,children:[a.name,
" ",n("b",{children:g(a.of(o))})]},a.name)),n("span",{class:"faint push",children:["top ",ze(s)," · last ",r]})]})]})}var Uo=8;function Ho(e,t){let o=ne(null),[i,s]=$({top:0,tall:600});lo(()=>{let a=o.current;if(!a)return;let p=()=>s(u=>u.top===a.scrollTop&&u.tall===a.clientHeight?u:{top:a.scrollTop,tall:a.clientHeight});
p();let d=new ResizeObserver(p);return d.observe(a),a.addEventListener("scroll",p,{passive:!0}),()=>{d.disconnect(),a.removeEventListener("scroll",p)}},[]);let r=Math.max(0,Math.floor(i.top/t)-Uo),l=Math.
min(e,Math.ceil((i.top+i.tall)/t)+Uo);return{box:o,from:r,to:l}}function Ko({items:e,height:t,row:o,label:i,role:s,class:r}){let{box:l,from:a,to:p}=Ho(e.length,t);return n("div",{ref:l,class:`rows ${r??
""}`,role:s??"list","aria-label":i,tabIndex:0,children:n("div",{class:"rows-all",role:"presentation",style:{height:e.length*t+"px"},children:n("div",{class:"rows-seen",role:"presentation",style:{top:a*
t+"px"},children:e.slice(a,p).map((d,u)=>o(d,a+u))})})})}var jt=32;function Qe({items:e,columns:t,id:o,label:i,open:s,selected:r,foot:l,most:a}){let{box:p,from:d,to:u}=Ho(e.length,jt),f=t.reduce((c,v)=>c+
Number(/\d+/.exec(v.width)?.[0]??0),20),_={gridTemplateColumns:t.map(c=>c.width).join(" ")};return n("div",{ref:p,class:"table-box",tabIndex:0,role:"region","aria-label":i,style:a?{maxHeight:(a+1)*jt+
4+"px"}:void 0,children:[n("div",{role:"table","aria-label":i,"aria-rowcount":e.length+1,class:"table",style:{minWidth:f+"px"},children:[n("div",{role:"rowgroup",class:"table-head",children:n("div",{role:"\
row",class:"tr",style:_,children:t.map(c=>n("div",{role:"columnheader",class:`th ${c.right?"right":""}`,children:c.title},c.name))})}),n("div",{role:"rowgroup",class:"table-all",style:{height:e.length*
jt+"px"},children:e.slice(d,u).map((c,v)=>n("div",{role:"row",class:`tr ${s?"opens":""} ${r?.(c)?"selected":""}`,"aria-rowindex":d+v+2,style:{..._,top:(d+v)*jt+"px"},onClick:s&&(E=>E.target.closest("a\
,button,input")||s(c)),children:t.map(E=>n("div",{role:"cell",class:`td ${E.right?"right":""}`,children:E.show(c)},E.name))},o(c)))})]}),l]})}var zo={sent:"sent",scheduled:"scheduled",copied:"copied",forwardedHere:"forwarded here",activated:"activated",delivered:"delivered",receivedAndDeleted:"received and deleted",lockRenewed:"lock renewed",
completed:"completed",abandoned:"abandoned",released:"released",deferred:"deferred",lockExpired:"lock expired",returned:"returned",deadLettered:"dead-lettered",expired:"expired",forwarded:"forwarded",
duplicate:"duplicate",cancelled:"cancelled",purged:"purged",sendRefused:"send refused",settlementRefused:"settlement refused"},Wo=Object.keys(zo),Ve=e=>zo[e]??e,ns=new Set(["deadLettered","sendRefused",
"settlementRefused"]),os=new Set(["lockExpired","abandoned","expired","returned","duplicate","purged","cancelled"]),is=new Set(["completed","receivedAndDeleted"]),Gt=e=>ns.has(e)?"bad":os.has(e)?"warn":
is.has(e)?"good":"",Qt=e=>e.subQueue?e.entity+"/"+e.subQueue:e.entity;function ss(e){return e.sequenceNumber?xe(b("life"),{entity:Qt(e),sequenceNumber:e.sequenceNumber}):xe(b("life"),{messageId:e.messageId})}
function Pn(e){let t=e.client;return t?[t.product||t.container,t.connection||t.remote].filter(Boolean).join(" · "):""}var rs=[{name:"time",title:"Time",width:"186px",show:e=>n(F,{at:e.time,millis:!0})},
{name:"kind",title:"What",width:"148px",show:e=>n(K,{tone:Gt(e.kind),children:Ve(e.kind)})},{name:"entity",title:"Entity",width:"minmax(140px, 1fr)",show:e=>n("a",{href:b("entity",e.entity),children:n(
h,{children:D(Qt(e))})})},{name:"message",title:"Message",width:"minmax(120px, 1fr)",show:e=>e.sequenceNumber||e.messageId?n("a",{href:ss(e),title:"The life of the message",children:[e.sequenceNumber?
"#"+e.sequenceNumber:""," ",e.messageId&&n(h,{class:"faint",children:e.messageId})]}):null},{name:"detail",title:"Detail",width:"minmax(140px, 1.4fr)",show:e=>e.detail?n(h,{children:e.detail}):e.copies!==
void 0?n("span",{class:"faint",children:[e.copies," copies"]}):null},{name:"client",title:"Client",width:"minmax(100px, .8fr)",show:e=>{let t=Pn(e);return t&&n(h,{class:"faint",children:t})}}];function Vt({
events:e,label:t,without:o=[]}){return n(Qe,{items:e,columns:rs.filter(i=>!o.includes(i.name)),id:i=>i.number,label:t})}var as=250,ls=4e3,cs=2e3,Ln=(e,t)=>new Promise(o=>{let i=setTimeout(o,e);t.addEventListener("abort",()=>{clearTimeout(i),o()},{once:!0})});function Jo(e,t,o){let i=new AbortController,s,r=0,l=()=>{document.
hidden&&s?.abort()};document.addEventListener("visibilitychange",l);let a=async()=>{for(;!i.signal.aborted;){if(document.hidden){await Ln(500,i.signal);continue}s=new AbortController;let u=()=>s?.abort();
i.signal.addEventListener("abort",u,{once:!0});try{let f=await _n("GET",T`${e}/events`,{query:{...t,from:r?String(r+1):void 0},signal:s.signal});if(o.state(""),await p(f,s.signal)){o.skipped(),r=0,s.abort();
continue}}catch(f){s.signal.aborted||o.state(X(f))}i.signal.removeEventListener("abort",u),await Ln(document.hidden?0:cs,i.signal)}},p=async(u,f)=>{let _=u.body.pipeThrough(new TextDecoderStream).getReader(),
c="";for(;!f.aborted;){let{value:v,done:E}=await _.read();if(E)return!1;let x=(c+v).split(`

`);c=x.pop()??"";let S=x.flatMap(d);if(S.length===0)continue;let y=S[S.length-1];if(r=y.number,o.events(S),o.now()-Date.parse(y.time)>ls&&S.length>20)return!0;await Ln(as,f)}return!1},d=u=>{let f=u.split(
`
`),_=f.find(c=>c.startsWith("data: "));return _?f.includes("event: missed")?(o.skipped(),[]):[JSON.parse(_.slice(6))]:[]};return a(),()=>{i.abort(),document.removeEventListener("visibilitychange",l)}}var Nn=2e3;function An(e,t,o){let[i,s]=$([]),[r,l]=$(""),[a,p]=$(0),[d,u]=$(!1),f=ne(o);f.current=o;let _=JSON.stringify([e,t]);return fe(()=>{let c=[],v=!1;s([]),u(!1);let E=y=>s(I=>{let O=I[0]?.number??
0;return[...y.filter(Xe=>Xe.number>O).reverse(),...I].slice(0,Nn)});(async()=>{try{let y=await j(T`${e}/history`,{...t,order:"newest",limit:200});v||E([...y.items].reverse())}catch{}v||u(!0)})();let S=Jo(
e,t,{events:y=>{c.push(...y),c.length>Nn&&c.splice(0,c.length-Nn),f.current||E(c.splice(0))},skipped:()=>p(y=>y+1),state:l,now:()=>V.value});return()=>{v=!0,S()}},[_]),{events:i,state:r,skips:a,loaded:d}}
function us({chosen:e,set:t}){return n("details",{class:"kinds",open:e.length>0,children:[n("summary",{children:["Kinds: ",e.length?e.map(Ve).join(", "):"all"]}),n("div",{class:"chips",role:"group","a\
ria-label":"Kinds of events",children:[Wo.map(o=>n("button",{type:"button",class:"chip","aria-pressed":e.includes(o),onClick:()=>t(e.includes(o)?e.filter(i=>i!==o):[...e,o]),children:Ve(o)},o)),e.length>
0&&n("button",{type:"button",class:"chip",onClick:()=>t([]),children:"All kinds"})]})]})}function Re({label:e,value:t,set:o,list:i}){let s=ne(void 0);return n("input",{type:"search","aria-label":e,placeholder:e,
defaultValue:t,list:i,spellcheck:!1,onInput:r=>{let l=r.currentTarget.value.trim();clearTimeout(s.current),s.current=setTimeout(()=>o(l),300)}})}function jo(){let{namespace:e,query:t}=k.value,[o,i]=$(
!1),s=(t.kind??"").split(",").filter(Boolean),r={entity:t.entity,kind:t.kind,messageId:t.messageId,client:t.client},{events:l,state:a,skips:p,loaded:d}=An(e,r,o),u=Object.values(r).some(Boolean);return n(
"div",{class:"screen-full",children:[n("h1",{children:"Live events"}),n("div",{class:"bar",children:[n(Re,{label:"Entity",value:t.entity??"",set:f=>ge({entity:f}),list:"entity-names"}),n("datalist",{id:"\
entity-names",children:(W.value??[]).slice(0,500).map(f=>n("option",{value:f.path,children:D(f.path)},f.path))}),n(Re,{label:"Message id",value:t.messageId??"",set:f=>ge({messageId:f})}),n(Re,{label:"\
Client",value:t.client??"",set:f=>ge({client:f})}),n(C,{act:()=>i(!o),children:o?"Go on":"Pause"}),n("span",{class:`live ${o||a?"":"on"}`,role:"status",children:[a?"not connected":o?"paused":"live"," \
· ",M(l.length,"event")]})]}),n(us,{chosen:s,set:f=>ge({kind:f.join(",")})}),a&&n(L,{text:a}),p>0&&n("p",{class:"hint",children:"More happens than can be shown, so some events were left out here. A f\
ilter shows all that fit; the history keeps the rest."}),l.length>0?n(Vt,{events:l,label:"Events, the newest first"}):d&&!a&&n(A,{title:u?"Nothing that fits has happened yet.":"Nothing has happened ye\
t.",children:n("p",{children:"Send or receive a message: each step appears here at once."})})]})}async function ds(e){let t=await z("POST",T`${k.value.namespace}/jobs`,{body:e,query:{wait:"1s"}});Se(),ie(t.state==="done"?`Done: ${M(t.done,"message")}${t.failed?`, ${g(t.failed)} failed`:""}.`:"The\
 job runs in the background."),(t.state!=="done"||t.failed>0)&&oe(b("jobs"))}function Dn(e,t){te({title:"Remove messages?",yes:`Remove ${M(t,"message")}`,text:n(m,{children:[n("p",{children:["All mess\
ages that are active in ",n("b",{children:n(h,{children:D(e)})})," are removed: ",M(t,"message")," now. Deferred and scheduled ones stay, and so do those that clients have locked."]}),n("p",{children:"\
This cannot be undone."})]}),act:()=>ds({kind:"purge",entity:e})})}var Go=(e,t,o)=>T`${e}/entities/${t}/sessions/${o||"$empty"}`;function ps(e){let t=e.replace(/\s+/g,"");if(!/^([0-9a-f]{2})*$/i.test(t))throw new Error("Hex has two digits, 0 to 9 and a to f, for each\
 byte.");return btoa((t.match(/../g)??[]).map(o=>String.fromCharCode(parseInt(o,16))).join(""))}var fs=e=>[...atob(e)].map(t=>t.charCodeAt(0).toString(16).padStart(2,"0")).join(" ").replace(/((?:.. ){15}..) /g,
`$1
`);function ms(e){try{return JSON.stringify(JSON.parse(e),null,2)}catch{return e}}function hs({address:e,session:t,close:o}){let[i,s]=$(),[r,l]=$(!1),[a,p]=$("");fe(()=>{j(e+"/state").then(f=>{l(f.base64!==
void 0),s(f.base64!==void 0?fs(f.base64):f.text??"")},f=>{f instanceof ke&&f.status===404?s(""):p(X(f))})},[e]);let d=async()=>{try{await z("PUT",e+"/state",{body:r?{base64:ps(i??"")}:{text:i??""}}),ie(
"The state is written."),o()}catch(f){p(X(f))}},u=()=>te({title:"Clear the state?",yes:"Clear the state",text:n("p",{children:["The state of the session ",n("b",{children:n(h,{children:t.id})}),", ",ae(
t.stateBytes??0),", is removed. This cannot be undone."]}),act:async()=>{await z("DELETE",e+"/state"),ie("The state is cleared."),o()}});return n(Ge,{title:"State of a session",close:o,wide:!0,children:[
n("div",{class:"dialog-body",children:[n("p",{children:["Session ",n("b",{children:n(h,{children:t.id||"(the empty text)"})}),t.holder&&n(m,{children:[", held by ",n(h,{children:t.holder}),", which ma\
y write it too"]})]}),i===void 0&&!a&&n(J,{}),i!==void 0&&n(m,{children:[n(Fe,{label:r?"Bytes, in hex":"Text",children:n("textarea",{class:"mono",rows:12,value:i,spellcheck:!1,onInput:f=>s(f.currentTarget.
value)})}),n("label",{class:"check",children:[n("input",{type:"checkbox",checked:r,onChange:f=>{l(f.currentTarget.checked),s("")}})," Write bytes in hex"]})]}),a&&n(L,{text:a})]}),n("footer",{children:[
!r&&n(C,{act:()=>s(ms(i??"")),children:"Format as JSON"}),t.stateBytes!==void 0&&n(C,{kind:"danger",act:u,children:"Clear"}),n("span",{class:"push"}),n(C,{act:o,children:"Close"}),n(C,{kind:"primary",
disabled:i===void 0,act:d,children:"Save"})]})]})}function Qo({path:e}){let t=k.value.namespace,o=Q(JSON.stringify([t,e]),2e3,a=>we(T`${t}/entities/${e}/sessions`,{},5e3,a)),[i,s]=$(),r=a=>te({title:"\
Take the lock of the session?",yes:"Take the lock",text:n("p",{children:[n(h,{children:a.holder??""})," loses the session ",n("b",{children:n(h,{children:a.id})}),". The ",g(a.locked)," messages that \
it has not settled come back, and the next receiver can have the session."]}),act:async()=>{await z("POST",Go(t,e,a.id)+"/break"),o.refresh()}}),l=[{name:"id",title:"Session",width:"minmax(140px, 1fr)",
show:a=>a.id?n(h,{children:a.id}):n("span",{class:"faint",children:"(the empty text)"})},{name:"active",title:"Active",width:"70px",right:!0,show:a=>g(a.active)},{name:"locked",title:"Locked",width:"7\
0px",right:!0,show:a=>g(a.locked)},{name:"deferred",title:"Deferred",width:"76px",right:!0,show:a=>g(a.deferred)},{name:"scheduled",title:"Scheduled",width:"84px",right:!0,show:a=>g(a.scheduled)},{name:"\
holder",title:"Held by",width:"minmax(120px, 1fr)",show:a=>a.holder?n(h,{children:a.holder}):n("span",{class:"faint",children:"free"})},{name:"until",title:"Until",width:"150px",show:a=>a.lockedUntil?
n(F,{at:a.lockedUntil}):null},{name:"state",title:"State",width:"90px",right:!0,show:a=>a.stateBytes!==void 0?ae(a.stateBytes):n("span",{class:"faint",children:"none"})},{name:"actions",title:"",width:"\
180px",right:!0,show:a=>n(m,{children:[n(C,{small:!0,act:()=>s(a),children:"State"})," ",a.holder&&n(C,{small:!0,kind:"danger",act:()=>r(a),children:"Take lock"})]})}];return o.value?n(m,{children:[o.
error&&n(L,{text:o.error}),o.value.length===0?n(A,{title:"There is no session.",children:n("p",{children:"A session is here while it has a message, a state or a holder. On an entity that requires sess\
ions each message has a session id."})}):n(Qe,{items:o.value,columns:l,id:a=>a.id,label:"Sessions"}),i&&n(hs,{address:Go(t,e,i.id),session:i,close:()=>{s(void 0),o.refresh()}})]}):o.error?n(L,{text:o.
error,retry:o.refresh}):n(J,{})}var vs={receiving:"receiving",expired:"expired","dead-lettered":"dead-lettered"};function Vo({path:e}){let{namespace:t,query:o}=k.value,i=o.sub==="dead"?e+"/"+Ut:e,s=Q(JSON.stringify([t,i,o.client]),2e3,
a=>j(T`${t}/entities/${i}/why`,{client:o.client},a)),r=s.value,l=b("entity",e,"why");return n(m,{children:[n("div",{class:"bar",children:[n(Rt,{at:o.sub??"",tabs:[{name:"",href:l,title:"Messages"},{name:"\
dead",href:xe(l,{sub:"dead"}),title:"Dead-letter queue"}]}),n(Re,{label:"Only this client",value:o.client??"",set:a=>ge({client:a})})]}),s.error&&n(L,{text:s.error,retry:s.refresh}),!r&&!s.error&&n(J,
{}),r&&n(P,{title:n("span",{role:"status",children:r.blocked?"Nothing can be received now":"Messages can be received"}),actions:n("span",{class:"faint",children:[g(r.available)," available · ",M(r.receivers,
"receiver")]}),children:n("ol",{class:"findings",children:r.findings.map((a,p)=>n("li",{class:a.blocks?"blocks":"",children:[n("p",{children:[n(K,{tone:a.blocks?"bad":a.code==="receiving"?"good":"",children:a.
blocks?"blocks":vs[a.code]??a.code.replaceAll("-"," ")})," ",n(h,{class:"wrap",children:a.text})]}),a.cure&&n("p",{class:"cure",children:[n("b",{children:"What to do"})," ",n(h,{class:"wrap",children:a.
cure})]})]},p))})})]})}function gs(e){let t=k.value.namespace;return Q(JSON.stringify([t,e]),3e3,o=>j(T`${t}/entities/${e}`,{},o))}function Ze({name:e,n:t,tone:o="",title:i}){return n("div",{class:`tile ${t?o:"zero"}`,title:i,
children:[n("span",{class:"tile-name",children:e}),n("span",{class:"tile-value",children:g(t)})]})}function _s({e}){let t=e.counts;return n("div",{class:"tiles",children:[e.kind!=="topic"&&n(Ze,{name:"\
Active",n:t.active,title:"With those that are locked or deferred"}),e.kind!=="topic"&&n(Ze,{name:"Deferred",n:t.deferred}),e.kind!=="subscription"&&n(Ze,{name:"Scheduled",n:t.scheduled}),e.kind!=="top\
ic"&&n(Ze,{name:"Dead-letter",n:t.deadLetter,tone:"dead"}),(t.transfer>0||t.transferDeadLetter>0)&&n(Ze,{name:"To forward",n:t.transfer,tone:"warn"}),t.transferDeadLetter>0&&n(Ze,{name:"Not forwarded",
n:t.transferDeadLetter,tone:"dead"}),n("div",{class:"tile",children:[n("span",{class:"tile-name",children:"Size"}),n("span",{class:"tile-value",children:ae(t.sizeBytes)})]})]})}function Xo({value:e}){
return typeof e=="boolean"?e?n(K,{tone:"good",children:"yes"}):n("span",{class:"faint",children:"no"}):typeof e=="number"?n(m,{children:g(e)}):e===null||e===""||e===void 0?n("span",{class:"faint",children:"\
none"}):typeof e=="string"?/^-?P\d*[DT]/.test(e)?n("span",{title:e,children:We(e)}):n(h,{children:e}):n("code",{class:"wrap",children:n(h,{children:JSON.stringify(e)})})}var Yo=e=>e.replace(/([a-z])([A-Z])/g,
"$1 $2").replace(/ [A-Z](?![A-Z])/g,t=>t.toLowerCase());function Zo({list:e,words:t}){return n(m,{children:e.map(o=>n("span",{class:"forward",children:[o.deadLetters?"dead letters ":"",t," ",n("a",{href:b(
"entity",o.entity),children:n(h,{children:D(o.entity)})})," ",o.missing&&n(K,{tone:"bad",children:"does not exist"})]},o.entity))})}function ys({e}){let t=[["Kind",e.kind],["Status",e.status==="Active"?
"Active":n(K,{tone:"warn",children:e.status})]];e.created&&t.push(["Created",n(F,{at:e.created})]),e.updated&&t.push(["Changed",n(F,{at:e.updated})]),e.accessed&&t.push(["Used",n(F,{at:e.accessed})]),
e.oldest&&t.push(["Oldest message",n(m,{children:n(F,{at:e.oldest.enqueued})})]),e.autoDelete&&t.push(["Deletes itself",n(F,{at:e.autoDelete.at})]),e.forwardsTo?.length&&t.push(["Forwards",n(Zo,{list:e.
forwardsTo,words:"to"})]),e.forwardedFrom?.length&&t.push(["Gets",n(Zo,{list:e.forwardedFrom,words:"from"})]);for(let[o,i]of Object.entries(e.properties??{}))o!=="Status"&&typeof i!="object"&&t.push([
Yo(o),n(Xo,{value:i})]);return n(P,{title:"Properties",flush:!0,children:n(Te,{facts:t})})}function bs({rules:e}){return n(P,{title:"Rules",flush:!0,children:[e.length===0&&n(A,{title:"Without a rule \
the subscription takes no message."}),n("div",{class:"rules",children:e.map(t=>n("div",{class:"rule",children:[n("b",{children:n(h,{children:t.name})}),Object.entries(t.properties).map(([o,i])=>n("p",
{children:[n("span",{class:"faint",children:Yo(o)})," ",n(Xo,{value:i})]},o))]},t.name))})]})}function ks({topic:e}){let t=(W.value??[]).filter(o=>o.kind==="subscription"&&Ce(o.path)?.toLowerCase()===
e.toLowerCase());return n(P,{title:"Subscriptions",flush:!0,children:[t.length===0&&n(A,{title:"Without a subscription, what is sent to the topic is gone at once.",children:n("pre",{class:"block",children:[
"minibus sub create ",e,"/audit"]})}),t.length>0&&n("table",{class:"plain",children:[n("thead",{children:n("tr",{children:[n("th",{children:"Name"}),n("th",{class:"right",children:"Active"}),n("th",{class:"\
right",children:"Dead-letter"})]})}),n("tbody",{children:t.map(o=>n("tr",{children:[n("td",{children:n("a",{href:b("entity",o.path),children:n(h,{children:o.path.slice(e.length+15)})})}),n("td",{class:"\
right",children:g(o.counts.active)}),n("td",{class:"right",children:o.counts.deadLetter?n("span",{class:"dead-text",children:g(o.counts.deadLetter)}):0})]},o.path))})]})]})}function ws({path:e}){let t=k.
value.namespace,o=$n(t,e),i=(o.value??[]).map(s=>({c:s,links:s.links.filter(r=>r.entity?.toLowerCase()===e.toLowerCase()&&Kt(r))})).filter(s=>s.links.length>0);return n(P,{title:"Who sends and receive\
s now",flush:!0,actions:n("a",{class:"button small",href:b("connections"),children:"All connections"}),children:[o.error&&n(L,{text:o.error,retry:o.refresh}),o.value&&i.length===0&&n(A,{title:"No clie\
nt has a link here.",children:n("p",{children:"Clients appear as soon as they send or receive."})}),i.map(({c:s,links:r})=>n("div",{class:"user",children:[n("p",{children:[n("b",{children:n(h,{children:s.
container||s.product||s.remote})})," ",n("span",{class:"faint",children:[[s.product,s.version].filter(Boolean).join(" ")," · ",s.remote]})]}),n(zt,{namespace:t,connection:s,links:r,done:o.refresh})]},
s.id))]})}function xs({e}){let t=e.counts,o=t.active+t.deadLetter+t.scheduled===0;return n(m,{children:[n(_s,{e}),e.kind==="topic"?n(ks,{topic:e.path}):n(P,{title:"Messages",children:n(Jt,{of:e.path})}),
n(ws,{path:e.path}),o&&e.kind!=="subscription"&&n(P,{title:"Send a message",children:n(dt,{entity:e.path})}),e.rules&&n(bs,{rules:e.rules}),n(ys,{e})]})}function Ss({path:e}){let[t,o]=$(!1),{events:i,
state:s,loaded:r}=An(k.value.namespace,{entity:e},t);return n(m,{children:[n("div",{class:"bar",children:[n(C,{act:()=>o(!t),children:t?"Go on":"Pause"}),n("span",{class:`live ${t||s?"":"on"}`,children:s?
"not connected":t?"paused":"live"})]}),s&&n(L,{text:s}),i.length>0?n(Vt,{events:i,label:"Events, the newest first",without:["entity"]}):r&&n(A,{title:"Nothing has happened here since Minibus began to \
remember."})]})}function ei({path:e,tab:t}){let o=gs(e),i=o.value;if(!i)return o.error?n(m,{children:[n("h1",{children:n(h,{children:D(e)})}),n(L,{text:o.error,retry:o.refresh})]}):n(J,{});let s={...i,
counts:(Po.value.get(e.toLowerCase())??i).counts},r=It(i.path),l=i.properties?.RequiresSession!==!1&&i.kind!=="topic",a=[{name:"",href:b("entity",e),title:"Summary"},...l?[{name:"sessions",href:b("ent\
ity",e,"sessions"),title:"Sessions"}]:[],{name:"history",href:b("entity",e,"history"),title:"History"},{name:"why",href:b("entity",e,"why"),title:i.kind==="topic"?"Where do messages go?":"Why don’t I \
receive?"}];return n(m,{children:[n("div",{class:"title",children:[n("h1",{children:[n("span",{class:`icon ${i.kind}`,"aria-hidden":"true"}),n(h,{children:D(i.path)})]}),n("button",{type:"button",class:`\
star ${r?"on":""}`,"aria-pressed":r,"aria-label":"Favourite",onClick:()=>Ft(i.path),children:"★"}),n(xn,{text:i.path,what:"Copy the path"}),i.kind!=="topic"&&s.counts.active>s.counts.deferred&&n(C,{
small:!0,kind:"danger",act:()=>Dn(i.path,s.counts.active-s.counts.deferred),children:"Purge"}),s.counts.deadLetter>0&&n(C,{small:!0,kind:"danger",act:()=>Dn(i.path+"/"+Ut,s.counts.deadLetter),children:"\
Purge dead letters"})]}),n(Rt,{tabs:a,at:t}),t===""&&n(xs,{e:s}),t==="sessions"&&n(Qo,{path:e}),t==="history"&&n(Ss,{path:e}),t==="why"&&n(Vo,{path:e}),!a.some(p=>p.name===t)&&n(A,{title:"There is no \
such view.",children:n("p",{children:n("a",{href:b("entity",e),children:"Go to the summary"})})})]})}var Ts={running:"",done:"good",cancelled:"warn",failed:"bad"};function Cs(e,t,o){te({title:"Cancel this job?",yes:"Cancel the job",text:n("p",{children:["It ends after the messages that it has in hand\
. The ",M(t.done,"message")," that it has ",t.kind==="purge"?"removed":"moved"," so far stay so."]}),act:async()=>{await z("POST",T`${e}/jobs/${t.id}/cancel`,{query:{wait:"2s"}}),o(),Se()}})}function Es({
namespace:e,j:t,done:o}){let i=n(m,{children:[t.kind==="purge"?"Purge":"Move"," ",n(h,{children:D(t.entity)}),t.target&&n(m,{children:[" → ",n(h,{children:D(t.target)})]})]});return n(P,{flush:!0,title:n(
m,{children:[i," ",n(K,{tone:Ts[t.state],children:t.state})]}),actions:t.state==="running"&&n(C,{small:!0,kind:"danger",act:()=>Cs(e,t,o),children:"Cancel"}),children:[n("progress",{class:"job-progres\
s",max:Math.max(t.total,1),value:t.state==="done"?Math.max(t.total,1):t.examined,"aria-label":`${g(t.examined)} of ${g(t.total)} messages examined`}),n(Te,{facts:[["Examined",`${g(t.examined)} of ${g(
t.total)}`],[t.kind==="purge"?"Removed":"Moved",g(t.done)],["Failed",t.failed?n("span",{class:"dead-text",children:g(t.failed)}):"0"],["Skipped",n("span",{title:"Clients had locked them, or took them \
meanwhile",children:g(t.skipped)})],["Began",n(F,{at:t.started})],["Ended",t.ended?n(F,{at:t.ended}):"not yet"]]}),t.why&&n(L,{text:t.why}),t.errors.length>0&&n("details",{class:"job-errors",open:!0,children:[
n("summary",{children:[M(t.failed,"message")," failed",t.failed>t.errors.length?`; the first ${t.errors.length}`:""]}),n("ul",{children:t.errors.map(s=>n("li",{children:[n("b",{children:["#",s.sequenceNumber]}),
" ",n(h,{class:"wrap",children:s.detail})]},s.sequenceNumber))})]})]})}function ti(){let e=k.value.namespace,t=Q(e,1e3,o=>we(T`${e}/jobs`,{limit:void 0},1e3,o));return n(m,{children:[n("h1",{children:"\
Jobs"}),t.error&&n(L,{text:t.error,retry:t.refresh}),!t.value&&!t.error&&n(J,{}),t.value?.length===0&&n(A,{title:"No job has run since Minibus started.",children:n("p",{children:["Purge an entity, or \
send its dead letters again: both run here in the background. ",n("a",{href:b(""),children:"Choose an entity"})]})}),t.value?.map(o=>n(Es,{namespace:e,j:o,done:t.refresh},o.id))]})}function $s({e,before:t}){let o=t?Date.parse(e.time)-Date.parse(t.time):0,i=Pn(e);return n("li",{class:`step ${Gt(e.kind)}`,children:[n("div",{class:"step-when",children:[n(F,{at:e.time,millis:!0}),o>=
1e3&&n("span",{class:"faint",children:["after ",re(o)]})]}),n("div",{class:"step-what",children:[n("p",{children:[n(K,{tone:Gt(e.kind),children:Ve(e.kind)})," ",n("a",{href:b("entity",e.entity),children:n(
h,{children:D(Qt(e))})})," ",e.sequenceNumber!==void 0&&n("span",{class:"faint",children:["#",e.sequenceNumber]})]}),n("p",{class:"wrap",children:n(h,{children:e.text})}),n("p",{class:"faint",children:[
i&&n(m,{children:["by ",n(h,{children:i})," "]}),e.deliveryCount>0&&n(m,{children:["delivery count ",e.deliveryCount," "]}),e.lockedUntil&&n(m,{children:["locked until ",n(F,{at:e.lockedUntil})]}),e.scheduledFor&&
n(m,{children:["due ",n(F,{at:e.scheduledFor})]})]})]})]})}function Ps({namespace:e,message:t}){let o=Q(JSON.stringify([e,t]),3e3,s=>j(T`${e}/history/life`,{...t},s));if(!o.value)return o.error?n(L,{text:o.
error,retry:o.refresh}):n(J,{});let i=o.value.items;return i.length===0?n(A,{title:"Minibus remembers nothing of this message.",children:n("p",{children:"It came before the oldest event in memory, or \
there was none with this id. The setting --history says how many events are kept."})}):n(m,{children:[o.error&&n(L,{text:o.error}),n("p",{class:"hint",children:[M(i.length,"event")," in ",re(Date.parse(
i[i.length-1].time)-Date.parse(i[0].time))]}),n("ol",{class:"timeline",children:i.map((s,r)=>n($s,{e:s,before:i[r-1]},s.number))})]})}function ni(){let{namespace:e,query:t}=k.value,o=t.sequenceNumber?
{entity:t.entity,sequenceNumber:t.sequenceNumber}:{messageId:t.messageId},i=o.messageId||o.entity&&o.sequenceNumber;return n(m,{children:[n("h1",{children:"Life of a message"}),n("div",{class:"bar",children:[
n(Re,{label:"Message id",value:t.messageId??"",set:s=>ge({messageId:s,entity:void 0,sequenceNumber:void 0})}),t.sequenceNumber&&n("span",{children:["#",t.sequenceNumber," of ",n(h,{children:D(t.entity??
"")})]})]}),i?n(P,{children:n(Ps,{namespace:e,message:o})}):n(A,{title:"Which message?",children:n("p",{children:"Type its message id, or choose one in the live events."})})]})}function ft({name:e,value:t,tone:o=""}){return n("div",{class:`tile ${o}`,children:[n("span",{class:"tile-name",children:e}),n("span",{class:"tile-value",children:t})]})}var Ls=e=>e.status==="Active"?
n("span",{class:"faint",children:"active"}):n(K,{tone:"warn",children:e.status}),On=(e,t="")=>e?n("span",{class:t,children:g(e)}):n("span",{class:"faint",children:"0"}),Ns=[{name:"path",title:"Entity",
width:"minmax(180px, 1fr)",show:e=>n("a",{href:b("entity",e.path),children:[n("span",{class:`icon ${e.kind}`,"aria-hidden":"true"}),n(h,{children:D(e.path)})]})},{name:"active",title:"Active",width:"8\
4px",right:!0,show:e=>On(e.counts.active)},{name:"dead",title:"Dead-letter",width:"92px",right:!0,show:e=>On(e.counts.deadLetter,"dead-text")},{name:"scheduled",title:"Scheduled",width:"88px",right:!0,
show:e=>On(e.counts.scheduled)},{name:"size",title:"Size",width:"84px",right:!0,show:e=>n("span",{class:"faint",children:ae(e.counts.sizeBytes)})},{name:"status",title:"Status",width:"130px",show:Ls}],
oi=e=>e.counts.deadLetter*1e6+(e.kind==="topic"?0:e.counts.active)+e.counts.scheduled;function ii(){let e=W.value;if(!e)return n(J,{});let t=e.filter(l=>l.kind!=="topic"),o=(l,a=t)=>a.reduce((p,d)=>p+
l(d),0),i=o(l=>l.counts.deadLetter+l.counts.transferDeadLetter),s=o(l=>l.counts.active)+o(l=>l.counts.scheduled,e)+i,r=[...e].sort((l,a)=>oi(a)-oi(l));return n(m,{children:[n("h1",{children:n(h,{children:k.
value.namespace})}),n("div",{class:"tiles",children:[n(ft,{name:"Entities",value:g(e.length)}),n(ft,{name:"Active",value:g(o(l=>l.counts.active))}),n(ft,{name:"Dead-letter",value:g(i),tone:i?"dead":""}),
n(ft,{name:"Scheduled",value:g(o(l=>l.counts.scheduled,e))}),n(ft,{name:"Size",value:ae(o(l=>l.counts.sizeBytes,e.filter(l=>l.kind!=="subscription")))})]}),e.length===0&&n(As,{}),e.length>0&&s===0&&n(
P,{title:"No messages yet. Send the first one",children:n(dt,{entity:e.find(l=>l.kind==="queue")?.path??e[0].path})}),e.length>0&&n(P,{title:"Messages",children:n(Jt,{})}),e.length>0&&n(P,{title:M(e.length,
"entity","entities"),flush:!0,children:n(Qe,{items:r,columns:Ns,id:l=>l.path,label:"Entities, those with dead letters first",most:16,open:l=>location.hash=b("entity",l.path)})})]})}function As(){return n(
P,{title:"This namespace is empty",children:n(A,{title:"Make the first queue in a shell, or with your SDK’s administration client. It appears here at once.",children:n("pre",{class:"block",children:[
"minibus queue create orders",`
`,"minibus topic create events",`
`,"minibus sub create events/audit"]})})})}var mt=N(""),ht=he("closed",[]),se=N(!1),Bn=e=>H.value+`
`+e,si=ee(()=>{let e=W.value??[],t=mt.value.trim().toLowerCase(),o=d=>d.path.toLowerCase().includes(t),i=e.filter(d=>d.kind==="queue"&&o(d)),s=new Map;for(let d of e){let u=d.kind==="subscription"&&Ce(
d.path)?.toLowerCase();if(!u||!o(d))continue;let f=s.get(u);f?f.push(d):s.set(u,[d])}let r=e.filter(d=>d.kind==="topic"&&(o(d)||s.has(d.path.toLowerCase()))),l=[],a=t?[]:e.filter(d=>Me.value.includes(
Bn(d.path))),p=(d,u)=>u>0&&l.push({key:"#"+d,heading:d,count:u,depth:0});p("Favourites",a.length);for(let d of a)l.push({key:"*"+d.path,entity:d,depth:0});p("Queues",i.length);for(let d of i)l.push({key:d.
path,entity:d,depth:0});p("Topics",r.length);for(let d of r){let u=s.get(d.path.toLowerCase())??[],f=t!==""||!ht.value.includes(Bn(d.path));if(l.push({key:d.path,entity:d,depth:0,topic:u.length>0,open:f}),
f)for(let _ of u)l.push({key:_.path,entity:_,depth:1})}return l});function Ds(e){let t=Bn(e);ht.value=ht.value.includes(t)?ht.value.filter(o=>o!==t):[...ht.value,t]}function Os({e}){let t=e.counts;return n(
"span",{class:"counts",children:[e.status!=="Active"&&n("span",{class:"badge warn",title:e.status,children:"off"}),t.scheduled>0&&n("span",{class:"count scheduled",title:`${g(t.scheduled)} scheduled`,
children:ze(t.scheduled)}),t.deadLetter>0&&n("span",{class:"count dead",title:`${g(t.deadLetter)} in the dead-letter queue`,children:ze(t.deadLetter)}),e.kind!=="topic"&&n("span",{class:`count ${t.active?
"active":"none"}`,title:`${g(t.active)} active`,children:ze(t.active)})]})}function Bs({row:e}){if(e.heading)return n("div",{class:"tree-heading",role:"listitem",children:[n("span",{children:e.heading}),
n("span",{class:"faint",children:g(e.count??0)})]});let t=e.entity,o=Mo(t),i=k.value.screen==="entity"&&k.value.rest[0]?.toLowerCase()===t.path.toLowerCase(),s=It(t.path);return n("div",{class:`tree-r\
ow depth-${e.depth} ${i?"here":""}`,role:"listitem",children:[e.topic?n("button",{type:"button",class:`twist ${e.open?"open":""}`,"aria-label":`Subscriptions of ${o}`,"aria-expanded":e.open,onClick:()=>Ds(
t.path),children:"›"}):n("span",{class:"twist","aria-hidden":"true"}),n("a",{href:b("entity",t.path),"aria-current":i?"page":void 0,onClick:()=>se.value=!1,children:[n("span",{class:`icon ${t.kind}`,
"aria-hidden":"true"}),n(h,{class:"tree-name",children:o}),n(Os,{e:t})]}),n("button",{type:"button",class:`star ${s?"on":""}`,"aria-pressed":s,"aria-label":`Favourite ${o}`,onClick:()=>Ft(t.path),children:"\
★"})]})}var vt=[{name:"",title:"Overview",key:"o"},{name:"events",title:"Live events",key:"e"},{name:"connections",title:"Connections",key:"c"},{name:"jobs",title:"Jobs",key:"j"},{name:"clock",title:"\
Clock",key:"k"},{name:"connect",title:"Connect",key:"s"}];function ri(){se.value=!0,setTimeout(()=>document.querySelector("#search")?.focus())}function Ms(){let e=si.value.find(t=>t.entity)?.entity;e&&
oe(b("entity",e.path)),se.value=!1}function Fs(){let e=le.value??[];return n("select",{"aria-label":"Namespace",class:"namespace",value:H.value,onChange:t=>oe(Be(t.currentTarget.value,"")),children:[e.
map(t=>n("option",{value:t.name,children:[t.name,t.default&&e.length>1?" (default)":""]},t.name)),!e.some(t=>t.name===H.value)&&n("option",{value:H.value,children:H.value||"…"})]})}function ai(){let e=k.
value,t=si.value;return n("aside",{class:`sidebar ${se.value?"open":""}`,"aria-label":"Namespace",children:[n("div",{class:"side-top",children:[n(Fs,{}),n("nav",{"aria-label":"Screens",class:"screens",
children:vt.map(o=>n("a",{href:b(o.name),"aria-current":e.screen===o.name?"page":void 0,onClick:()=>se.value=!1,children:o.title},o.name))}),n("input",{id:"search",type:"search",placeholder:"Search en\
tities  /","aria-label":"Search entities",value:mt.value,spellcheck:!1,onInput:o=>mt.value=o.currentTarget.value,onKeyDown:o=>{o.key==="Enter"&&Ms(),o.key==="Escape"&&(mt.value="")}})]}),n(Ko,{items:t,
height:28,label:"Entities",class:"tree",row:o=>n(Bs,{row:o},o.key)}),W.value&&t.length===0&&n("p",{class:"hint side-empty",children:mt.value?"No entity has this in its name.":"There are no entities ye\
t. The overview says how to make one."})]})}var de=N("");function Is(){let e=vt.map(t=>({title:t.title,kind:"screen",run:()=>oe(b(t.name))}));for(let t of le.value??[])t.name!==H.value&&e.push({title:t.name,kind:"namespace",run:()=>oe(Be(t.name,
""))});for(let t of["light","dark","system"])e.push({title:`Theme: ${t}`,kind:"setting",run:()=>ce.value=t});e.push({title:G.value==="utc"?"Show local times":"Show times in UTC",kind:"setting",run:()=>G.
value=G.value==="utc"?"local":"utc"}),e.push({title:"Keys",kind:"help",run:()=>de.value="keys"});for(let t of W.value??[])e.push({title:D(t.path),kind:t.kind,run:()=>oe(b("entity",t.path))});return e}
function Rs(e,t){let o=e.toLowerCase(),i=o.indexOf(t);if(i>=0)return i;let s=0;for(let r of o)r===t[s]&&s++;return s===t.length?1e3+o.length:-1}var qs=50;function Us(){let[e,t]=$(""),[o,i]=$(0),s=()=>de.
value="",r=Ne(()=>{let p=e.trim().toLowerCase();return Is().map(d=>({c:d,r:Rs(d.title,p)})).filter(d=>d.r>=0).sort((d,u)=>d.r-u.r).slice(0,qs).map(d=>d.c)},[e]),l=p=>{p&&(s(),p.run())},a=p=>{let d=(o+
p+r.length)%Math.max(r.length,1);i(d),document.getElementById("command-"+d)?.scrollIntoView({block:"nearest"})};return n(Ge,{title:"Go to",close:s,children:[n("input",{autofocus:!0,class:"palette-inpu\
t",role:"combobox","aria-label":"Command or entity","aria-expanded":"true","aria-controls":"commands","aria-activedescendant":r.length?"command-"+o:void 0,placeholder:"A screen, an entity, a namespace\
, a setting",value:e,spellcheck:!1,onInput:p=>{t(p.currentTarget.value),i(0)},onKeyDown:p=>{if(p.key==="ArrowDown")a(1);else if(p.key==="ArrowUp")a(-1);else if(p.key==="Enter")l(r[o]);else return;p.preventDefault()}}),
n("ul",{id:"commands",role:"listbox","aria-label":"Commands",class:"commands",children:r.map((p,d)=>n("li",{id:"command-"+d,role:"option","aria-selected":d===o,onMouseMove:()=>i(d),onClick:()=>l(p),children:[
n(h,{children:p.title}),n("span",{class:"faint",children:p.kind})]},d))}),r.length===0&&n("p",{class:"hint palette-none",children:"Nothing has this in its name."})]})}var Hs=[["/","Search the entities"],
["Ctrl K","Go to a screen, an entity or a setting"],["?","Show these keys"],["t","Light or dark"],["u","Times: local or UTC"],["Esc","Close a window"],...vt.map(e=>["g "+e.key,e.title])];function Ks(){
return n(Ge,{title:"Keys",close:()=>de.value="",children:n("dl",{class:"keys",children:Hs.map(([e,t])=>n("div",{children:[n("dt",{children:e.split(" ").map(o=>n("kbd",{children:o},o))}),n("dd",{children:t})]},
e))})})}var Mn=0,zs=()=>ce.value=getComputedStyle(document.documentElement).colorScheme.includes("dark")?"light":"dark";function Ws(e){if((e.ctrlKey||e.metaKey)&&e.key.toLowerCase()==="k"){e.preventDefault(),
de.value=de.value==="palette"?"":"palette";return}if(e.target.closest?.("input,textarea,select,dialog")||e.ctrlKey||e.metaKey||e.altKey||ve.value)return;let o=Date.now()-Mn<1500&&vt.find(i=>i.key===e.
key);if(Mn=0,o)oe(b(o.name));else if(e.key==="g")Mn=Date.now();else if(e.key==="/")ri();else if(e.key==="?")de.value="keys";else if(e.key==="t")zs();else if(e.key==="u")G.value=G.value==="utc"?"local":
"utc";else return;e.preventDefault()}function li(){addEventListener("keydown",Ws)}var ci=()=>de.value="palette",ui=()=>de.value="keys";function di(){return de.value==="palette"?n(Us,{}):de.value==="ke\
ys"?n(Ks,{}):null}function Js(){let{screen:e,rest:t}=k.value;switch(e){case"":return n(ii,{});case"entity":return n(ei,{path:t[0]??"",tab:t[1]??"",item:t[2]},t[0]);case"events":return n(jo,{});case"life":return n(ni,{});case"\
connections":return n(qo,{});case"clock":return n(Fo,{});case"jobs":return n(ti,{});case"connect":return n(Ro,{});default:return n(A,{title:"There is no such screen.",children:n("p",{children:n("a",{href:b(
""),children:"Go to the overview"})})})}}function js(){let[e,t]=$(""),[o,i]=$(gn()?"Minibus does not accept the key of this connection string.":"");return n("main",{class:"key-form",children:n("form",
{onSubmit:r=>{r.preventDefault();try{ko(e),Se()}catch(l){i(X(l))}},class:"panel",children:[n("h1",{children:"This Minibus asks for a key"}),n("p",{children:"Paste a connection string of the default na\
mespace whose policy has the right Manage. It stays in this tab and goes nowhere: the tab signs each request with it."}),n(Fe,{label:"Connection string",children:n("textarea",{autofocus:!0,rows:4,value:e,
spellcheck:!1,onInput:r=>t(r.currentTarget.value),placeholder:"Endpoint=sb://localhost;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=…"})}),o&&n(L,{text:o}),n(C,{kind:"primary",type:"\
submit",disabled:!e.trim(),children:"Open"})]})})}var Gs={system:"◐",light:"☀",dark:"☾"},Qs={system:"light",light:"dark",dark:"system"};function Vs(){let e=je.value;if(!e)return null;let t=e.offset!==
0||e.frozen!==void 0,o=e.frozen!==void 0?"frozen":t?(e.offset>0?"+":"−")+re(e.offset):"";return n("a",{class:`chip ${t?"warn":""}`,href:b("clock"),title:"The clock of the namespace",children:[Je(V.value,
V.value),G.value==="utc"&&" UTC",o&&n("b",{children:o})]})}function Zs(){return n("header",{class:"top",children:[n("button",{type:"button",class:"tool menu","aria-label":"Menu","aria-expanded":se.value,
onClick:()=>se.value=!se.value,children:"☰"}),n("a",{class:"brand",href:b(""),children:[n("img",{src:"/$minibus/ui/icon.svg",alt:"",width:"22",height:"22"}),"Minibus"]}),n("button",{type:"button",class:"\
go-to",onClick:ci,children:["Go to… ",n("kbd",{children:"Ctrl K"})]}),n(Vs,{}),n("button",{type:"button",class:"tool","aria-label":`Times: ${G.value}`,title:"Times: local or UTC (u)",onClick:()=>G.value=
G.value==="utc"?"local":"utc",children:G.value==="utc"?"UTC":"local"}),n("button",{type:"button",class:"tool","aria-label":`Theme: ${ce.value}`,title:`Theme: ${ce.value}`,onClick:()=>ce.value=Qs[ce.value],
children:Gs[ce.value]}),n("button",{type:"button",class:"tool","aria-label":"Keys",title:"Keys (?)",onClick:ui,children:"?"}),gn()&&n("button",{type:"button",class:"tool",onClick:wo,children:"Forget k\
ey"})]})}function Xs(){return ve.value?n(m,{children:[n(js,{}),n(Sn,{})]}):n(m,{children:[n("a",{class:"skip",href:"#main",onClick:e=>{e.preventDefault(),document.getElementById("main")?.focus()},children:"\
Skip to the content"}),n(Zs,{}),n(ai,{}),se.value&&n("div",{class:"shade",onClick:()=>se.value=!1}),n("main",{id:"main",tabIndex:-1,children:[lt.value&&n(L,{text:lt.value,retry:Se}),k.value.namespace&&
n(Js,{})]}),n(Sn,{}),n(Bo,{}),n(di,{})]})}Do();li();Zn(n(Xs,{}),document.getElementById("app"));
